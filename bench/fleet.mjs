// Measures a fleet in a bucket: 20 nodes with 2 logs of 30 days each, 6 GB of text, every call 30 ms away.
//
//   npm run bench:fleet [-- --nodes 20] [--days 30] [--delay 30] [--megabytes 5]
//
// --megabytes is the text of a log and day. The bucket is in this process and counts what it is asked: a LIST brings at
// most 1,000 keys. For each question it prints the requests, the bytes and the round trips (requests that began after
// another had ended), cold and asked again; seconds are for information.
import { parseArgs } from 'node:util'
import { crc32, gzipSync } from 'node:zlib'
import { createFleet } from '../dist/fleet.js'
import { full } from '../dist/full.js'
import { systemClock } from '../dist/kit/limits/clock.js'
import { timesToShip } from '../dist/log/seek/shipped.js'
import { beginKey, endKey, lifeFolder, segmentName } from '../dist/store/segment/names.js'
import { writeYoung } from '../dist/store/segment/young.js'

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '20' },
    days: { type: 'string', default: '30' },
    delay: { type: 'string', default: '30' },
    megabytes: { type: 'string', default: '5' },
  },
})
const [nodes, days, delay, megabytes] = ['nodes', 'days', 'delay', 'megabytes'].map((name) =>
  Number(values[name]),
)
const DAY = 86_400_000
const LOGS = ['broker.log', 'storage.log']
const NOW = Date.UTC(2026, 5, 30, 23, 59, 0)

/** Objects without the name of their node: the nodes differ in nothing else. */
const objects = new Map()
for (const [index, log] of LOGS.entries()) {
  for (let day = 0; day < days; day++) {
    const life = day + 1
    const text = textOf(NOW - (days - day) * DAY, index)
    const isLast = day === days - 1
    objects.set(
      lifeFolder(log, life) +
        segmentName({ start: 0, end: text.length, crc: crc32(text), times: timesToShip(text) }),
      gzipSync(text),
    )
    const young = { file: `1:${life}:3`, from: text.length, to: text.length, crc: 0, since: 0 }
    objects.set(beginKey(log, life), writeYoung(young, gzipSync('')))
    const end = { life, size: text.length, crc: crc32(text.subarray(-65_536)), how: 'end' }
    if (!isLast) objects.set(endKey(log, end), new Uint8Array())
  }
}
const ids = Array.from({ length: nodes }, (_, i) => `db-${String(i).padStart(2, '0')}`)
objects.set(
  'node.json',
  new TextEncoder().encode(JSON.stringify({ hostName: 'db', version: '1', onlineTime: 1 })),
)
const inOrder = [...objects.keys()].sort()

function textOf(from, index) {
  const count = Math.round((megabytes * 1e6) / 118)
  const line = (i) => {
    const time = new Date(from + Math.floor((i * DAY) / count)).toISOString().replace('T', ' ').slice(0, 23)
    const level = i % 997 === index ? 'ERROR' : i % 89 === 0 ? 'WARN' : 'INFO'
    return `${time}\t${level}\tquery/executor.go:${i % 900}\t[Broker] [Query]: request ${i} handled by worker ${i % 61}\t{"ms":${i % 997},"ok":true}\n`
  }
  return Buffer.from(Array.from({ length: count }, (_, i) => line(i)).join(''))
}

/** What was asked since the last question; `trips` is the longest chain of calls, each of which began after the one before. */
const asked = { list: 0, stat: 0, read: 0, bytes: 0, trips: 0 }
async function call(kind, work) {
  asked[kind]++
  const depth = asked.trips + 1
  await new Promise((resolve) => setTimeout(resolve, delay))
  asked.trips = Math.max(asked.trips, depth)
  return work()
}

const keyed = (key) => {
  const slash = key.indexOf('/')
  return ids.includes(key.slice(0, slash)) ? key.slice(slash + 1) : ''
}
/** Each life was finished a day after it began. */
const modifiedOf = (key) =>
  NOW - (days - Number(/\d{8}/.exec(key)?.[0] ? 99_999_999 - Number(/\d{8}/.exec(key)[0]) : days)) * DAY
const entryOf = (key) => ({
  key,
  size: objects.get(keyed(key)).length,
  modified: modifiedOf(keyed(key)),
  etag: `"${crc32(key).toString(16)}"`,
})

const store = {
  nested: true,
  async *list(prefix = '', { shallow = false, folders = false, after, limit = Infinity } = {}) {
    let left = limit
    let onPage = 0
    let last = ''
    const slash = prefix.indexOf('/')
    const known =
      slash < 0
        ? ids.filter((id) => id.startsWith(prefix))
        : ids.filter((id) => id === prefix.slice(0, slash))
    await call('list', () => {})
    for (const id of known)
      for (const name of inOrder) {
        const key = `${id}/${name}`
        if (!key.startsWith(prefix)) continue
        const end = shallow ? key.indexOf('/', prefix.length) : -1
        const shown = end < 0 ? key : key.slice(0, end + 1)
        if (left <= 0) return
        if (shown === last || (after !== undefined && shown <= after)) continue
        last = shown
        if (end >= 0 && !folders) continue
        if (onPage++ === 1000) {
          onPage = 1
          await call('list', () => {})
        }
        left--
        yield end < 0 ? entryOf(key) : { key: shown, size: 0, modified: 0, etag: '""', folder: true }
      }
  },
  stat: (key) => call('stat', () => (objects.has(keyed(key)) ? entryOf(key) : null)),
  read: (key, range = { offset: 0 }) =>
    call('read', () => {
      const bytes = objects.get(keyed(key))
      if (!bytes) return null
      const offset =
        'suffix' in range ? Math.max(0, bytes.length - range.suffix) : Math.min(range.offset, bytes.length)
      const end = Math.min(bytes.length, offset + (range.length ?? bytes.length))
      asked.bytes += end - offset
      return {
        entry: entryOf(key),
        offset,
        length: end - offset,
        body: new Uint8Array(bytes.subarray(offset, end)),
      }
    }),
}

/** The clock of the machine, set to the end of the last day. */
const offset = NOW - Date.now()
const clock = { ...systemClock, now: () => Date.now() + offset }

const at = (ms) => new Date(ms).toISOString()
const QUESTIONS = {
  'page of the nodes': '/api/v1/nodes',
  'first page of all logs': '/api/v1/log/view?node=*&file=*&lines=100',
  'first page of one log of each node': '/api/v1/log/view?node=*&file=broker.log&lines=100',
  'newest 100 errors of the last hour': `/api/v1/log/view?node=*&file=*&level=error&lines=100&since=${at(NOW - 3_600_000)}`,
  'chart of five minutes': `/api/v1/log/histogram?node=*&file=*&since=${at(NOW - 300_000)}&until=${at(NOW)}`,
  'chart of a day': `/api/v1/log/histogram?node=*&file=*&since=${at(NOW - DAY)}&until=${at(NOW)}`,
  'chart of five minutes a week ago': `/api/v1/log/histogram?node=*&file=*&rotated=true&since=${at(NOW - 7 * DAY)}&until=${at(NOW - 7 * DAY + 300_000)}`,
}

console.log(
  `${nodes} nodes × ${LOGS.length} logs × ${days} days, ${megabytes} MB of text a day each; calls take ${delay} ms`,
)
console.log('| question | | status | LIST | GET | HEAD | MB | round trips | s | complete |')
console.log('|---|---|---|---|---|---|---|---|---|---|')
for (const [name, path] of Object.entries(QUESTIONS)) {
  const app = createFleet({ store, with: full(), clock, limits: { sources: 1000 } })
  for (const how of ['cold', 'warm']) {
    Object.assign(asked, { list: 0, stat: 0, read: 0, bytes: 0, trips: 0 })
    const begun = performance.now()
    const response = await app.request(path)
    const text = await response.text()
    const seconds = ((performance.now() - begun) / 1000).toFixed(1)
    const note = response.headers.get('X-Nodestate-Note') ?? ''
    const complete = /"complete":(true|false)/.exec(text)?.[1] ?? note
    const { list, read, stat, bytes, trips } = asked
    const shown = response.status === 200 ? complete : text.slice(0, 160)
    console.log(
      `| ${name} | ${how} | ${response.status} | ${list} | ${read} | ${stat} | ${(bytes / 1e6).toFixed(1)} | ${trips} | ${seconds} | ${shown} |`,
    )
  }
}
console.log(`RSS ${Math.round(process.memoryUsage.rss() / 2 ** 20)} MiB`)
