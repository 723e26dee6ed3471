import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** An error is one line of 200, a warning one of 50. */
const levelOf = (i) => (i % 200 === 17 ? 'ERROR' : i % 50 === 7 ? 'WARN' : 'INFO')
const WORDS = ['flushed', 'opened', 'handled', 'planned', 'replicated', 'compacted', 'received']
const message = (i) =>
  `request ${3_000_000 + (i % 1_000_000)} ${WORDS[i % 7]} by worker ${i % 61} after ${i % 997} of ${i % 13} steps`

const iso = (ms) => new Date(ms).toISOString()
const spaced = (ms) => iso(ms).replace('T', ' ').slice(0, 23)
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const month = (ms) => MONTHS[new Date(ms).getUTCMonth()]
const capitalized = { INFO: 'Note', WARN: 'Warning', ERROR: 'ERROR' }

/** One line of each format, by its number and time. */
export const FORMATS = {
  lindb: (i, ms) =>
    `${spaced(ms)}\t${levelOf(i)}\tquery/executor.go:${i % 900}\t[Broker] [Query]: ${message(i)}\t{"ms":${i % 997},"node":"10.0.${i % 7}.${i % 250}","ok":true}`,
  postgresql: (i, ms) =>
    `${spaced(ms)} UTC [${1000 + (i % 300)}] app@shop ${{ INFO: 'LOG', WARN: 'WARNING', ERROR: 'ERROR' }[levelOf(i)]}:  ${message(i)}`,
  mysql: (i, ms) =>
    `${iso(ms).slice(0, 23)}456Z ${i % 300} [${capitalized[levelOf(i)]}] [MY-0${10000 + (i % 999)}] [Server] ${message(i)}`,
  json: (i, ms) =>
    `{"level":"${levelOf(i).toLowerCase()}","ts":"${iso(ms)}","logger":"broker.query","caller":"query/executor.go:${i % 900}","msg":"${message(i)}","ms":${i % 997},"node":"10.0.${i % 7}.${i % 250}"}`,
  log4j: (i, ms) =>
    `${spaced(ms).replace('.', ',')} ${levelOf(i).padEnd(5)} [worker-${i % 61}] org.example.query.Executor - ${message(i)}`,
  logfmt: (i, ms) =>
    `ts=${iso(ms)} caller=executor.go:${i % 900} level=${levelOf(i).toLowerCase()} component=query msg="${message(i)}" ms=${i % 997}`,
  syslog: (i, ms) =>
    `${month(ms)} ${iso(ms).slice(8, 10)} ${iso(ms).slice(11, 19)} db-4 broker[${1000 + (i % 300)}]: ${levelOf(i)} ${message(i)}`,
  access: (i, ms) =>
    `10.0.${i % 7}.${i % 250} - - [${iso(ms).slice(8, 10)}/${month(ms)}/${iso(ms).slice(0, 4)}:${iso(ms).slice(11, 19)} +0000] "GET /api/v1/items/${i % 100_000}?page=${i % 50} HTTP/1.1" ${{ INFO: 200, WARN: 404, ERROR: 503 }[levelOf(i)]} ${i % 5000} "-" "Mozilla/5.0 (X11; Linux x86_64)"`,
  cri: (i, ms) => `${iso(ms).slice(0, 23)}456789Z stdout F ${FORMATS.log4j(i, ms)}`,
  docker: (i, ms) =>
    `{"log":"${FORMATS.log4j(i, ms)}\\n","stream":"stdout","time":"${iso(ms).slice(0, 23)}456789Z"}`,
}

/** A minute in each of the ways that the formats write it. */
const minuteTexts = (ms) => {
  const [date, clock] = [iso(ms).slice(0, 10), iso(ms).slice(11, 16)]
  const day = date.slice(8)
  return [
    `${date}T${clock}`,
    `${date} ${clock}`,
    `${day}/${month(ms)}/2026:${clock}`,
    `${month(ms)} ${day} ${clock}`,
  ]
}

const START = Date.UTC(2026, 10, 14)
const MINUTE = 60_000
/** One line each 6 ms. */
const PER_MINUTE = 10_000

/** A log in each format, of about this size, in a directory. All minutes are alike but for their time. */
export function writeFormatLogs(directory, size) {
  for (const [name, lineOf] of Object.entries(FORMATS)) {
    const file = openSync(join(directory, `${name}.log`), 'w')
    const lines = Array.from({ length: PER_MINUTE }, (_, i) => lineOf(i, START + (i * MINUTE) / PER_MINUTE))
    const first = `${lines.join('\n')}\n`
    for (let written = 0, ms = START; written < size; ms += MINUTE) {
      const texts = minuteTexts(ms)
      const minute = minuteTexts(START).reduce((text, old, i) => text.replaceAll(old, texts[i]), first)
      written += writeSync(file, minute)
    }
    closeSync(file)
  }
}
