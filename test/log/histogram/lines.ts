import { SHAPES } from '../../../bench/shape-logs.mjs'
import { FIXTURES, linesOf } from '../format/fixtures.ts'

/** A number below another, from a seed. */
export type Random = (below: number) => number

export function random(seed: number): Random {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const MESSAGE = 'request 3000017 flushed by worker 17 after 4 of 9 steps'
const LOG4J = [
  `2026-11-14 02:10:03,123 INFO  [worker-17] org.example.Executor - ${MESSAGE}`,
  `2026-11-14 02:10:03,124 ERROR [worker-8] org.example.Executor - ${MESSAGE}`,
]

/** Lines of usual formats and of the bench, and whether the scanner reads them; and those of all fixtures. */
export const SAMPLES: Record<string, { lines: string[]; isShaped: boolean }> = {
  ...shaped({
    'LinDB’s log': [
      `2026-11-14 02:10:03.123\tINFO\ta/b.go:17\t[Broker]: ${MESSAGE}\t{"ms":1}`,
      `2026-11-14 02:10:03.124\tWARN\ta/b.go:17\t[Broker]: ${MESSAGE}`,
    ],
    'PostgreSQL’s log': [
      `2026-11-14 02:10:03.123 UTC [1017] app@shop LOG:  ${MESSAGE}`,
      `2026-11-14 02:10:03.124 UTC [17] app@shop ERROR:  ${MESSAGE}`,
      `2026-11-14 02:10:03.124 UTC [17] app@shop DETAIL:  ${MESSAGE}`,
    ],
    'MySQL’s log': [
      `2026-11-14T02:10:03.123456Z 17 [Note] [MY-010017] [Server] ${MESSAGE}`,
      `2026-11-14T02:10:03.123457Z 8 [ERROR] [MY-010017] [Server] ${MESSAGE}`,
    ],
    'JSON lines': [
      `{"level":"info","ts":"2026-11-14T02:10:03.123Z","msg":"${MESSAGE}","ms":17}`,
      `{"level":"error","ts":"2026-11-14T02:10:03.124Z","msg":"${MESSAGE}","ms":17}`,
    ],
    'JSON lines with the level last': [
      `{"ts":"2026-11-14T02:10:03.123+01:00","n":17,"ok":true,"msg":"a \\"b\\"","level":"INFO"}`,
      `{"ts":"2026-11-14T02:10:03.124+01:00","n":8,"ok":true,"msg":"${MESSAGE}","level":"WARN"}`,
    ],
    'JSON lines with objects': [
      `{"level":"info","log":{"level":"error"},"ts":"2026-11-14T02:10:03.123Z","msg":"${MESSAGE}"}`,
      `{"level":"info","ts":"2026-11-14T02:10:03.123Z","log":{"level":"error"},"msg":"${MESSAGE}"}`,
      `{"log":{"level":"error"},"level":"info","ts":"2026-11-14T02:10:03.123Z","msg":"${MESSAGE}"}`,
      `{"a":{"level":"error"},"level":"info","ts":"2026-11-14T02:10:03.123Z","time":"2026-11-14T02:11:03.123Z"}`,
    ],
    Log4j: LOG4J,
    logfmt: [
      `ts=2026-11-14T02:10:03.123Z caller=executor.go:17 level=info msg="${MESSAGE}" ms=17`,
      `ts=2026-11-14T02:10:03.124Z caller=executor.go:8 level=error msg="${MESSAGE}" ms=17`,
    ],
    syslog: [
      `Nov 14 02:10:03 db-4 broker[1017]: INFO ${MESSAGE}`,
      `Nov 14 02:10:04 db-4 broker[17]: WARN ${MESSAGE}`,
    ],
    'syslog with priorities (RFC 5424)': [
      `<134>1 2026-11-14T02:10:03.123Z db-4 broker 1017 - - ${MESSAGE}`,
      `<11>1 2026-11-14T02:10:03.124Z db-4 broker 17 ID47 [origin ip="10.0.0.1"] ${MESSAGE}`,
      `<7>1 2026-11-14T02:10:03.124+02:00 db-4 broker - - - ERROR ${MESSAGE}`,
      `<0>1 2026-11-14T02:10:03Z db-4 broker - - - ${MESSAGE}`,
    ],
    'an access log': [
      '10.0.0.17 - - [14/Nov/2026:02:10:03 +0000] "GET /items/17?page=7 HTTP/1.1" 200 17 "-" "Mozilla/5.0"',
      '10.0.10.8 - bob [14/Nov/2026:02:10:03 +0000] "GET /items/8?q=\\"x\\" HTTP/1.1" 503 17 "-" "Mozilla/5.0"',
    ],
    'a log that CRI wrapped': LOG4J.map((line) => `2026-11-14T02:10:03.123456789Z stdout F ${line}`),
    'lines in parts that CRI wrapped': LOG4J.flatMap((line) => [
      `2026-11-14T02:10:03.123456789Z stdout P ${line}`,
      '2026-11-14T02:10:03.123456789Z stdout F ERROR and the rest',
      `2026-11-14T02:10:03.123456789Z stdout F ${line}`,
    ]),
    'a log that Docker wrapped': LOG4J.map(
      (line) => `{"log":"${line}\\n","stream":"stdout","time":"2026-11-14T02:10:03.123456789Z"}`,
    ),
  }),
  ...shaped(
    Object.fromEntries(
      Object.entries(SHAPES).flatMap(([format, shapes]) =>
        Object.entries(shapes).map(([shape, lineOf]) => [
          `${format}-${shape} of the bench`,
          Array.from({ length: 60 }, (_, i) => lineOf(i, Date.UTC(2026, 10, 14, 9) + i * 6)),
        ]),
      ),
    ),
  ),
  ...Object.fromEntries(
    FIXTURES.map((fixture) => [
      `${fixture.id} (fixture)`,
      { lines: linesOf(fixture).toString().split('\n').filter(Boolean), isShaped: false },
    ]),
  ),
}

function shaped(samples: Record<string, string[]>): typeof SAMPLES {
  return Object.fromEntries(Object.entries(samples).map(([name, lines]) => [name, { lines, isShaped: true }]))
}

const WORDS = [
  'INFO',
  'WARN',
  'ERROR',
  'LOG',
  'DETAIL',
  'info',
  'error',
  'Warning',
  'debug1',
  '200',
  '404',
  'P',
]
const BYTES = [...' \t:"\\[](){}/-+=<|,.#ZTE0n\r\0\x1b_', '\xff', '\xc3', '\ufeff'].map((char) => char)
const OTHERS = [
  '\tat org.example.Main(Main.java:17)',
  '',
  '}',
  '2026-11-14',
  '[14/Nov/2026:02:10:03 +0000] "',
  '    ',
  '<3>a kernel’s line without a time',
]

/** A line of another second, with other numbers that are no part of a time. */
function withOtherNumbers(line: string, any: Random): string {
  const digits = (length: number) => Array.from({ length }, () => any(10)).join('')
  return line
    .replace(/(\d\d:\d\d:)\d\d([.,]\d+)?/g, (_, clock: string, decimals = '') => {
      const seconds = String(any(30) === 0 ? any(62) : any(10)).padStart(2, '0')
      return `${clock}${seconds}${decimals.slice(0, 1)}${digits(Math.max(0, decimals.length - 1))}`
    })
    .replace(/(?<![\d:/,.TZ+-])\d+(?![\d:/,.+-])/g, (run) => (any(3) === 0 ? digits(1 + any(6)) : run))
}

/** A log of lines like some: with other digits, and the more broken the higher `wildness` is, from 0 to 3. */
export function linesLike(lines: readonly string[], any: Random, wildness: number): Uint8Array {
  const few = Array.from({ length: 3 }, () => lines[any(lines.length)]!)
  const out: string[] = []
  for (let i = 0; i < 200; i++) {
    let line = withOtherNumbers(few[any(few.length)]!, any)
    if (any(12) < wildness) line = line.replace(/\d/g, (digit) => (any(25) === 0 ? String(any(10)) : digit))
    if (any(12) < wildness)
      line = line.replace(/\d+/g, (run) => (any(9) === 0 ? run.slice(any(3)) + '7'.repeat(any(3)) : run))
    if (any(10) < wildness)
      line = line.replace(/[A-Za-z]{3,}/g, (word) => (any(6) === 0 ? WORDS[any(WORDS.length)]! : word))
    for (let times = any(10) < 2 * wildness ? 1 + any(2) : 0; times > 0; times--) {
      const at = any(Math.min(line.length, any(3) === 0 ? 1000 : 90))
      line = line.slice(0, at) + BYTES[any(BYTES.length)]! + line.slice(at + any(2))
    }
    if (any(20) < wildness) line = line.slice(0, any(line.length))
    if (any(20) < wildness) line = OTHERS[any(OTHERS.length)]!
    if (wildness > 1 && any(30) === 0) line = SAMPLES.Log4j!.lines[0]!
    out.push(line)
  }
  const end = any(4) === 0 ? '\r\n' : '\n'
  return Buffer.from(out.join(end) + (any(3) === 0 ? '' : end), 'latin1')
}
