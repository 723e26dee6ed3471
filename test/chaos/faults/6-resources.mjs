// Every resource over every kind of log, many at once, in a container of 256 MiB: a new resource that opens or searches
// logs outside of the common bound shows here. Add it to RESOURCES.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { confined, line, lines, SKIPPED, stamp } from '../logs.mjs'
import { beside, folder, get, MB, sleep, stalled, watchMemory } from '../service.mjs'

const AT_ONCE = 12
const MOST_MB = 230
/** What a 4 KiB tail beside all of it may take. */
const TAIL_MS = 1000

const hour = `since=${encodeURIComponent(`${stamp(0).replace(' ', 'T')}Z`)}&until=${encodeURIComponent(`${stamp(3_600_000).replace(' ', 'T')}Z`)}`

const RESOURCES = {
  lines: (file) => `log/view?${file}&lines=200`,
  export: (file) => `log/view?${file}&download=true&q=number%2019`,
  histogram: (file) => `log/histogram?${file}`,
  groups: (file) => `log/groups?${file}&by=level`,
  fields: (file) => `log/fields?${file}`,
  compare: (file) => `log/compare?${file}&${hour}`,
}

const KINDS = {
  plain: 'file=plain.log',
  rotated: 'file=rotated.log&rotated=true',
  archive: 'file=rotated.log.1.gz',
  long: 'file=long.log',
  wide: 'file=wide.log',
  several: 'file=plain.log&file=rotated.log&file=long.log',
}

function logs() {
  const path = folder('logs')
  const text = lines(0, 20_000)
  writeFileSync(join(path, 'plain.log'), text)
  writeFileSync(join(path, 'rotated.log'), lines(700_000, 701_000))
  writeFileSync(join(path, 'rotated.log.1.gz'), gzipSync(lines(0, 100_000), { level: 1 }))
  const long = 'y'.repeat(8 * MB)
  writeFileSync(join(path, 'long.log'), [line(0), line(10, long), line(20), line(30, long)].join(''))
  writeFileSync(join(path, 'wide.log'), Buffer.from(`\ufeff${lines(0, 10_000)}`, 'utf16le'))
  writeFileSync(join(path, 'small.log'), lines(0, 100))
  return path
}

/** All resources over one kind of log. */
const crowded = ([kind, file]) => ({
  name: `every resource over ${kind} logs, many at once, in 256 MiB`,
  waits: 1000,
  async run() {
    const node = await confined(['--logs', logs()])
    if (node === null) return SKIPPED
    const most = watchMemory(node.pid)
    const wrong = []
    let count = 0
    const seen = await beside(node.url, '/api/v1/log/view?file=small.log&size=4096', async () => {
      for (const [name, of] of Object.entries(RESOURCES)) {
        const asked = Array.from({ length: AT_ONCE }, () => get(node.url, `/api/v1/${of(file)}`))
        const answers = await Promise.all(asked)
        count += answers.length
        for (const { status, headers, cut } of answers)
          if (cut || !(status === 200 || (status === 503 && headers['retry-after'] !== undefined)))
            wrong.push(`${name} ${cut ? 'cut' : status}`)
        if (!answers.some(({ status }) => status === 200)) wrong.push(`no ${name}`)
        if (!node.isAlive()) return
      }
    })
    if (seen.p99 > TAIL_MS) wrong.push(`a tail beside it ${Math.round(seen.p99)} ms`)
    return {
      tried: `${Object.keys(RESOURCES).join(', ')}: ${AT_ONCE} of each at once`,
      count,
      figure: `${[...new Set(wrong)].slice(0, 5).join(', ') || 'all answered, or refused with Retry-After'}; ${Math.round(most())} MB`,
      held: node.isAlive() && wrong.length === 0 && most() < MOST_MB,
    }
  },
})

export const faults = [
  ...Object.entries(KINDS).map(crowded),
  {
    name: 'a small tail beside 600 clients of every kind that stop reading',
    waits: 1000,
    async run() {
      const node = await confined(['--logs', logs()])
      if (node === null) return SKIPPED
      const asks = Object.values(RESOURCES).flatMap((of) => Object.values(KINDS).map((file) => of(file)))
      const sockets = Array.from({ length: 600 }, (_, i) =>
        stalled(node.url, `/api/v1/${asks[i % asks.length]}`),
      )
      const seen = await beside(node.url, '/api/v1/log/view?file=small.log&size=4096', () => sleep(12_000))
      for (const socket of sockets) socket.destroy()
      return {
        tried: 'views, searches, exports, charts, groups, fields and comparisons of six kinds of logs',
        count: 600,
        figure: `a tail beside them: median ${Math.round(seen.p50)} ms, p99 ${Math.round(seen.p99)} ms, slowest ${Math.round(seen.slowest)} ms`,
        held: node.isAlive() && seen.p99 < TAIL_MS,
      }
    },
  },
]
