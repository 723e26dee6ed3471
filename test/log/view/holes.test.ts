import { describe, expect, it } from 'vitest'
import { stemOf } from '../../../src/log/rotated/names.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { segmentStore } from '../../../src/store/segments.ts'
import { StoreError } from '../../../src/store/store.ts'
import { createApp } from '../../support/app.ts'
import { putEnd, putLife, putSegment } from '../../support/segments.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const lineOf = (i: number) =>
  `2026-11-14 02:${String(Math.floor(i / 60) % 60).padStart(2, '0')}:${String(i % 60).padStart(2, '0')}.000\t${i % 10 === 0 ? 'ERROR' : 'INFO'}\ta.go:1\t[A] [B]: line ${String(i).padStart(5, '0')}\n`
const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => lineOf(from + i)).join('')

function shipped() {
  const home = memoryStore()
  const mirror = memoryStore()
  const logs = segmentStore(home, mirror, { stemOf })
  const app = createApp({ logs, config: '' })
  const get = async (query: string, headers: Record<string, string> = {}) => {
    const response = await app.request(`/api/v1/log/${query}`, { headers })
    const link = response.headers.get('Link') ?? ''
    const page = (rel: string) => new RegExp(`<\\?([^>]+)>; rel="${rel}"`).exec(link)?.[1] ?? null
    return {
      status: response.status,
      text: await response.text(),
      note: response.headers.get('X-Nodestate-Note'),
      prev: page('prev'),
      next: page('next'),
      headers: response.headers,
    }
  }
  return { home, mirror, app, get, put: home.put }
}

describe('a view of a shipped log', () => {
  it('tells a client that reads on from the end of a file if bytes were lost there', async () => {
    const { put, get } = shipped()
    await putLife(put, encode(lines(0, 10)), { life: 1 })
    const { text, next, note } = await get('view?file=a.log&lines=5')
    expect([text, note]).toEqual([lines(5, 10), null])
    expect((await get(`view?${next}`)).note).toBeNull()
    await putEnd(put, encode(lines(0, 10)), { life: 1, how: 'lost' })
    await putLife(put, encode(lines(12, 15)), { life: 2 })
    const more = await get(`view?${next}`)
    expect([more.text, more.note]).toEqual([lines(12, 15), 'gap'])
    expect((await get(`view?${more.next}`)).note).toBeNull()
  })

  it('has the note only on the page that lost bytes, going back', async () => {
    const { put, get } = shipped()
    await putLife(put, encode(lines(0, 10)), { life: 1, how: 'lost' })
    await putLife(put, encode(lines(12, 22)), { life: 2 })
    const pages = []
    let page = await get('view?file=a.log&rotated=true&lines=5')
    for (; page.prev; page = await get(`view?${page.prev}`)) pages.push([page.text, page.note])
    expect([...pages, [page.text, page.note]]).toEqual([
      [lines(17, 22), null],
      [lines(12, 17), null],
      [lines(5, 10), 'gap'],
      [lines(0, 5), null],
    ])
  })

  it('goes through all lives with rotated=true, forward and back', async () => {
    const { put, get } = shipped()
    await putLife(put, encode(lines(0, 100)), { life: 1, how: 'end' })
    await putLife(put, encode(lines(100, 200)), { life: 2, how: 'end' })
    await putLife(put, encode(lines(200, 250)), { life: 3 })
    expect((await get('view?file=a.log')).text).toBe(lines(200, 250))
    expect((await get('view?file=a.log&rotated=true')).text).toBe(lines(0, 250))
    expect((await get('view?file=a.log@000002')).text).toBe(lines(100, 200))
    let page = await get('view?file=a.log&rotated=true&size=3000')
    let text = page.text
    while (page.prev) {
      page = await get(`view?${page.prev}`)
      expect(page.status).toBe(200)
      text = page.text + text
    }
    expect(text).toBe(lines(0, 250))
    const found = await get('view?file=a.log&rotated=true&level=error&lines=25')
    expect(found.text.match(/line \d+/g)).toHaveLength(25)
    const since = await get(
      'view?file=a.log&rotated=true&since=2026-11-14T02:01:30Z&until=2026-11-14T02:01:50Z',
    )
    expect(since.text).toBe(lines(90, 110))
    const list = JSON.parse((await get('list')).text)
    expect(list.map(({ name }: { name: string }) => name)).toEqual(['a.log', 'a.log@000001', 'a.log@000002'])
  })

  it('ends at a hole with a note, and the page before goes on before it', async () => {
    const { put, get } = shipped()
    const text = lines(0, 300)
    await putLife(put, encode(text), { size: 1000, skip: (index) => index === 5 })
    const whole = await get('view?file=a.log')
    expect(whole.status).toBe(200)
    expect(whole.note).toBe('gap')
    expect(text.endsWith(whole.text)).toBe(true)
    const before = await get(`view?${whole.prev}`)
    expect(before.status).toBe(200)
    expect(text.startsWith(before.text)).toBe(true)
    expect(before.prev).toBeNull()
    const missing = text.length - whole.text.length - before.text.length
    expect(missing).toBeGreaterThan(1000)
    expect(missing).toBeLessThan(1200)
    // The same with a filter, with a time and forward.
    const found = await get('view?file=a.log&q=line')
    expect([found.text, found.note]).toEqual([whole.text, 'gap'])
    expect((await get(`view?${found.prev}`)).text).toBe(before.text)
    const timed = await get('view?file=a.log&since=2026-11-14T02:00:10Z')
    expect([timed.text, timed.note]).toEqual([whole.text, 'gap'])
    const late = await get('view?file=a.log&since=2026-11-14T02:03:00Z')
    expect([late.text, late.note, late.prev]).toEqual([lines(180, 300), null, null])
    const tail = await get('view?file=a.log&lines=5')
    expect([tail.text, tail.note]).toEqual([lines(295, 300), null])
    let forward = await get(`view?${before.next}`)
    expect([forward.text, forward.note]).toEqual([whole.text, 'gap'])
    const first = await get('view?file=a.log&lines=1')
    const start = await get(`view?${whole.prev}&lines=1000`)
    expect([first.status, start.status]).toEqual([200, 200])
    forward = await get(`view?${(await get(`view?${whole.prev}`)).next}`)
    expect(forward.note).toBe('gap')
  })

  it('looks past a hole once to find a period after a cursor', async () => {
    const { home, put } = shipped()
    const bytes = encode(lines(0, 3000))
    const at = (count: number) => lines(0, count).length
    await putLife(put, bytes.subarray(0, at(1200)), { size: 100_000 })
    await putSegment(put, bytes, [at(1300), at(3000)])
    let lists = 0
    const list: typeof home.list = (...asked) => {
      lists++
      return home.list(...asked)
    }
    const app = createApp({ logs: segmentStore({ ...home, list }, memoryStore(), { stemOf }), config: '' })
    const before = await app.request('/api/v1/log/view?file=a.log&lines=10&until=2026-11-14T02:10:00Z')
    const prev = /<([^>]+)>; rel="prev"/.exec(before.headers.get('Link')!)![1]!
    const first = await app.request(`/api/v1/log/view${prev}`)
    expect(await first.text()).toBe(lines(590, 600))
    const after = /after=([^&>]+)/.exec(first.headers.get('Link')!)![1]!
    for (const [period, from, to] of [
      ['since=2026-11-14T02:15:00Z', 900, 1200],
      ['until=2026-11-14T02:40:00Z', 600, 1200],
      ['since=2026-11-14T02:12:00Z&until=2026-11-14T02:13:00Z', 720, 780],
      ['since=2026-11-14T02:30:00Z', 1200, 1200],
    ] as const) {
      lists = 0
      const page = await app.request(`/api/v1/log/view?file=a.log&lines=3000&${period}&after=${after}`)
      expect([page.status, await page.text()]).toEqual([200, lines(from, to)])
      expect(page.headers.get('X-Nodestate-Note')).toBe('gap')
      expect(lists).toBeLessThan(20)
    }
  })

  it('refuses a range that needs a hole, and names the bytes', async () => {
    const { put, get } = shipped()
    const text = encode(lines(0, 100))
    await putSegment(put, text, [0, 1000])
    await putSegment(put, text, [2000, text.length])
    for (const range of ['bytes=0-1500', 'bytes=1500-1600', `bytes=-${text.length - 1500}`]) {
      const answer = await get('download?file=a.log', { Range: range })
      expect(answer.status, range).toBe(502)
      expect(JSON.parse(answer.text)).toMatchObject({ type: '/problems/missing-segment', status: 502 })
      expect(JSON.parse(answer.text).detail).toContain('1000 to 1999')
    }
    expect((await get('download?file=a.log')).status).toBe(502)
    const right = await get('download?file=a.log', { Range: 'bytes=2000-2009' })
    expect([right.status, right.headers.get('Content-Range')]).toEqual([
      206,
      `bytes 2000-2009/${text.length}`,
    ])
  })

  it('begins late where the head has expired; a cursor before it is gone', async () => {
    const { put, get, home } = shipped()
    const text = lines(0, 300)
    await putLife(put, encode(text), { size: 1000 })
    const old = await get('view?file=a.log&lines=295')
    expect(old.status).toBe(200)
    const early = old.prev!
    const keys = []
    for await (const { key } of home.list('segments/')) keys.push(key)
    const segments = keys
      .filter((key) => key.endsWith('.log.gz'))
      .sort()
      .reverse()
    for (const key of segments.slice(0, 4)) home.delete(key)
    // Another instance, which remembers nothing of what was there.
    const logs = segmentStore(home, memoryStore())
    const app = createApp({ logs, config: '' })
    const view = await app.request('/api/v1/log/view?file=a.log')
    expect(view.headers.get('X-Nodestate-Note')).toBe('begins-late')
    expect(view.headers.get('Link')).not.toContain('rel="prev"')
    const rest = await view.text()
    expect(text.endsWith(rest)).toBe(true)
    expect(rest.length).toBeLessThan(text.length - 4000)
    const gone = await app.request(`/api/v1/log/view?${early}`)
    expect(gone.status).toBe(410)
    const found = await app.request('/api/v1/log/view?file=a.log&q=line')
    expect(found.headers.get('X-Nodestate-Note')).toBe('begins-late')
    expect(await found.text()).toBe(rest)
    const all = await app.request('/api/v1/log/download?file=a.log')
    expect([all.status, await all.text()]).toEqual([200, rest])
    expect((await get('view?file=a.log&lines=5')).text).toBe(lines(295, 300))
    const histogram = await app.request('/api/v1/log/histogram?file=a.log')
    expect(histogram.status).toBe(200)
  })

  it('notes what was cut or lost between two lives', async () => {
    const { put, get } = shipped()
    await putLife(put, encode(lines(0, 100)), { life: 1, how: 'lost' })
    await putLife(put, encode(lines(200, 250)), { life: 2 })
    const whole = await get('view?file=a.log&rotated=true')
    expect([whole.text, whole.note]).toEqual([lines(0, 100) + lines(200, 250), 'gap'])
    expect((await get('view?file=a.log')).note).toBeNull()
    expect((await get('view?file=a.log@000001')).note).toBe('gap')
    expect((await get('view?file=a.log&rotated=true&lines=5')).note).toBeNull()
  })

  it('refuses a damaged segment', async () => {
    const { put, get } = shipped()
    const key = await putSegment(put, encode(lines(0, 10)), [0, 500])
    put(key, 'damaged')
    const answer = await get('view?file=a.log')
    expect(answer.status).toBe(502)
    expect(JSON.parse(answer.text).type).toBe('/problems/bad-segment')
  })

  it('is followed from life to life, with a gap where one was lost', async () => {
    const { put, app } = shipped()
    const first = encode(lines(0, 10))
    await putLife(put, first, { life: 1 })
    const response = await app.request('/api/v1/log/view?file=a.log&follow=true&lines=2', {
      headers: { Accept: 'text/event-stream' },
    })
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    const until = async (wanted: string) => {
      while (!text.includes(wanted)) text += (await reader.read()).value
    }
    await until('line 00009')
    const more = encode(lines(0, 12))
    await putSegment(put, more, [first.length, more.length])
    await until('line 00011')
    await putLife(put, more, { life: 1, size: 10_000_000, how: 'lost' })
    await putLife(put, encode(lines(20, 25)), { life: 2 })
    await until('line 00024')
    expect(text).toContain('event: rotated')
    expect(text).toContain('event: gap')
    expect(text.indexOf('event: gap')).toBeLessThan(text.indexOf('line 00020'))
    await reader.cancel()
  })
})

describe('an export of a shipped log', () => {
  const ALL = 'view?file=a.log&download=true'
  /** Only the segments from an index on are there, or all but one. */
  async function without(skip: (index: number) => boolean, count = 300) {
    const { put, get } = shipped()
    await putLife(put, encode(lines(0, count)), { size: 1000, skip })
    return get
  }

  it('begins late where the head has expired, and says so as the view does', async () => {
    const get = await without((index) => index < 4)
    const view = await get('view?file=a.log')
    expect(view.note).toBe('begins-late')
    for (const query of ['', '&q=line', '&since=2026-11-14T02:00:00Z', '&level=info']) {
      const found = await get(`view?file=a.log${query}`)
      const all = await get(`${ALL}${query}`)
      expect([all.status, all.note, all.text], query).toEqual([200, 'begins-late', found.text])
    }
    const json = await get(`${ALL}&format=ndjson`)
    expect([json.status, json.note]).toEqual([200, 'begins-late'])
    expect(json.text.split('\n').length).toBe(view.text.split('\n').length)
    // Nothing is missing from a part that is there.
    const late = await get(`${ALL}&since=2026-11-14T02:03:00Z`)
    expect([late.status, late.note, late.text]).toEqual([200, null, lines(180, 300)])
  })

  it('has what is before and after holes, with a note', async () => {
    const get = await without((index) => index === 5 || index === 9 || index === 10)
    let page = await get('view?file=a.log')
    let text = page.text
    while (page.prev) {
      page = await get(`view?${page.prev}`)
      text = page.text + text
    }
    expect(text.startsWith(lines(0, 50))).toBe(true)
    const all = await get(ALL)
    expect([all.status, all.note, all.text]).toEqual([200, 'gap', text])
    const found = await get(`${ALL}&level=error`)
    expect([found.note, found.text]).toEqual(['gap', text.replace(/.*\tINFO.*\n/g, '')])
    const early = await get(`${ALL}&until=2026-11-14T02:00:30Z`)
    expect([early.status, early.note, early.text]).toEqual([200, null, lines(0, 30)])
    const late = await get(`${ALL}&since=2026-11-14T02:04:00Z`)
    expect([late.status, late.note, late.text]).toEqual([200, null, lines(240, 300)])
  })

  it('after a cursor is refused if bytes are missing', async () => {
    const get = await without((index) => index === 5)
    const { prev } = await get('view?file=a.log')
    const after = (link: string | null) => link!.replace(/^.*(after=[^&]+).*$/, '$1')
    const old = await get(`view?${prev}&lines=10`)
    expect((await get(`${ALL}&${after(old.next)}`)).status).toBe(502)
    const early = await get(`view?${old.prev}`)
    expect((await get(`${ALL}&${after(early.next)}`)).status).toBe(502)
  })

  it('notes what was cut or lost between two lives', async () => {
    const { put, get } = shipped()
    await putLife(put, encode(lines(0, 50)), { life: 1, how: 'cut' })
    await putLife(put, encode(lines(60, 100)), { life: 2 })
    const view = await get('view?file=a.log&rotated=true')
    const all = await get(`${ALL}&rotated=true`)
    expect([all.note, all.text]).toEqual([view.note, view.text])
    expect(all.note).toBe('gap')
  })
})

it('an export of a log that is replaced while it is opened starts again, as a view does', async () => {
  const text = lines(0, 50)
  const store = memoryStore({ 'a.log': text })
  let failures = 0
  const app = createApp({
    logs: {
      ...store,
      read(key, range, options) {
        if (failures-- > 0) throw new StoreError('changed', 'replaced')
        return store.read(key, range, options)
      },
    },
    config: '',
    onError() {},
  })
  for (const path of ['q=line', 'q=line&download=true', 'download=true', 'download=true&format=ndjson']) {
    failures = 2
    const answer = await app.request(`/api/v1/log/view?file=a.log&${path}`)
    expect([answer.status, failures], path).toEqual([200, expect.any(Number)])
    const body = await answer.text()
    expect(body.match(/line \d{5}/g), path).toEqual(text.match(/line \d{5}/g))
  }
  failures = 3
  const answer = await app.request('/api/v1/log/view?file=a.log&q=line&download=true')
  expect(answer.status).toBe(503)
})
