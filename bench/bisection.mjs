import { full } from '../dist/full.js'
import { createApp } from '../dist/index.js'

const START = Date.UTC(2026, 10, 1)
const LINE = 128

/** How many reads a window of time costs at most, in a log of any size that is made up as it is read. */
export async function countReads(size) {
  // An hour of silence now and then: times are not even.
  const timeOf = (i) => START + i * 7 + Math.floor(i / 100_000) * 3_600_000
  const entry = { key: 'a.log', size, modified: START, etag: '"1"' }
  let reads = 0
  const store = {
    async *list() {
      yield entry
    },
    stat: async () => entry,
    async read(_key, { offset = 0, length = size - offset, suffix }) {
      reads++
      if (suffix !== undefined) offset = Math.max(0, size - suffix)
      length = Math.min(length, size - offset)
      const first = Math.floor(offset / LINE)
      const last = Math.ceil((offset + length) / LINE)
      let text = ''
      for (let i = first; i < last; i++) {
        const time = new Date(timeOf(i)).toISOString().replace('T', ' ').slice(0, 23)
        text += `${time}\tINFO\tquery/a.go:12\t[Broker] [Query]: ${i} `.padEnd(LINE - 1, '.').concat('\n')
      }
      const body = new TextEncoder().encode(text).slice(offset - first * LINE, offset - first * LINE + length)
      return { entry, offset, length, body }
    },
  }
  // One read at a time, as on a disk; bench/bucket.mjs counts those over a network.
  const app = createApp({ logs: store, config: '', limits: { parallelReads: 1 }, with: full() })
  const count = size / LINE
  let most = 0
  for (const i of [1, 12_345, 99_999, 100_000, Math.floor(count / 3), Math.floor(count * 0.77), count - 2]) {
    reads = 0
    const since = encodeURIComponent(new Date(timeOf(i)).toISOString())
    const response = await app.request(`/api/v1/log/view?file=a.log&size=0&since=${since}`)
    if (response.status !== 200) throw new Error(await response.text())
    most = Math.max(most, reads)
  }
  return most
}
