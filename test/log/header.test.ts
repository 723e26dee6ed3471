import { appendFileSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loki } from '../../src/doors/loki.ts'
import { fsStore } from '../../src/store/fs.ts'
import { createApp } from '../support/app.ts'
import { numbersOf } from '../support/log-clients.ts'

const HEADER =
  '/usr/sbin/databased, version 8.4.3, started with:\nTCP port: 3306  Unix socket: /run/databased.sock\n'
const line = (minute: string, n: number) =>
  `2026-11-14 20:${minute}:00.000\tWARN\tx.go:1\t[A]: number ${n} \n`

describe('a log whose files all begin with the same lines', () => {
  let folder: string
  const write = (name: string, text: string | Uint8Array, minute: string) => {
    writeFileSync(join(folder, name), text)
    const at = new Date(`2026-11-14T20:${minute}:00Z`)
    utimesSync(join(folder, name), at, at)
  }
  const ask = (path: string) => createApp({ logs: fsStore(folder), config: '', loki }).request(path)
  const linkIn = (response: Response) => /<([^>]+)>; rel="next"/.exec(response.headers.get('Link') ?? '')![1]!
  const nextOf = (response: Response) => `/api/v1/log/view${linkIn(response).replace(/^[^?]*/, '')}`

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'nodestate-header-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  it.each(['file=a.log', 'file=a.log&file=b.log'])(
    'has an empty chart before its first record: %s',
    async (files) => {
      write('a.log', HEADER + line('10', 1), '10')
      write('b.log', HEADER + line('12', 2), '12')
      const chart = await ask(`/api/v1/log/histogram?${files}&until=2026-11-14T20:10:00Z`)
      expect(chart.status).toBe(200)
      expect(await chart.json()).toMatchObject({ complete: true, buckets: [] })
      const one = await ask(`/api/v1/log/histogram?${files}&until=2026-11-14T20:11:00Z&buckets=1`)
      expect(await one.json()).toMatchObject({ complete: true, buckets: [{ counts: [0, 0, 1, 0, 0, 0] }] })
    },
  )

  it('has times in order, though the first lines of each file have none', async () => {
    write('a.log.1.gz', gzipSync(HEADER + line('10', 1) + line('12', 2)), '12')
    for (const text of [HEADER, HEADER + line('14', 3)]) {
      write('a.log', text, '14')
      const view = await ask('/api/v1/log/view?file=a.log&rotated=true&since=2026-11-14T20:11:00Z&lines=9')
      expect(view.headers.get('X-Nodestate-Note')).toBeNull()
      expect(numbersOf(await view.text())).toEqual(text === HEADER ? [2] : [2, 3])
    }
  })

  it('has no stream of lines that are no entries', async () => {
    write('a.log', HEADER + line('10', 1), '10')
    const series = await ask(`/loki/api/v1/series?match[]=${encodeURIComponent('{file="a.log"}')}`)
    expect((await series.json()).data).toEqual([expect.objectContaining({ level: 'warn' })])
  })

  it('has a next page, which is empty, while the newest file has nothing else', async () => {
    write('a.log.1', HEADER + line('10', 1), '10')
    write('a.log', HEADER, '12')
    const page = await ask('/api/v1/log/view?file=a.log&rotated=true&level=warn&first=9')
    expect(numbersOf(await page.text())).toEqual([1])
    let next = await ask(nextOf(page))
    expect(next.status).toBe(200)
    expect(numbersOf(await next.text())).toEqual([])
    appendFileSync(join(folder, 'a.log'), line('13', 2))
    next = await ask(nextOf(next))
    expect(numbersOf(await next.text())).toEqual([2])
  })

  it('has a page before the one that begins after these lines, in an older file', async () => {
    write('a.log.2', HEADER + line('10', 1), '10')
    write('a.log.1', HEADER, '11')
    write('a.log', HEADER + line('12', 2) + line('13', 3), '13')
    const from = '/api/v1/log/view?file=a.log&rotated=true&since=2026-11-14T20:10:00Z'
    const second = await ask(nextOf(await ask(`${from}&first=1&format=ndjson`)))
    expect(numbersOf(await second.text())).toEqual([2])
    const prev = /<[^>?]*([^>]+)>; rel="prev"/.exec(second.headers.get('Link')!)![1]!
    expect(numbersOf(await (await ask(`/api/v1/log/view${prev}`)).text())).toEqual([1])
  })

  it('says that a place in these lines is gone with its file, if others have them, too', async () => {
    write('a.log', HEADER, '10')
    const at = nextOf(await ask('/api/v1/log/view?file=a.log&lines=9'))
    appendFileSync(join(folder, 'a.log'), line('11', 1))
    renameSync(join(folder, 'a.log'), join(folder, 'a.log.1'))
    write('a.log', HEADER + line('13', 2), '13')
    expect(numbersOf(await (await ask(at)).text())).toEqual([1, 2])

    // While the old file is there, no other one can get its inode.
    write('a.log.1.gz', gzipSync(HEADER + line('11', 1)), '11')
    rmSync(join(folder, 'a.log.1'))
    expect((await ask(at)).status).toBe(410)
  })

  it('is put in order by the first record of each file', async () => {
    write('a.log.1.gz', gzipSync(HEADER + line('10', 1) + line('12', 2)), '12')
    write('a.log', HEADER + line('11', 3) + line('14', 4), '14')
    const view = await ask('/api/v1/log/view?file=a.log&rotated=true&since=2026-11-14T20:11:30Z&lines=9')
    expect(view.headers.get('X-Nodestate-Note')).toBe('time-order')
    expect(numbersOf(await view.text())).toEqual([2, 4])
  })
})
