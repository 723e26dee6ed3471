import { appendFileSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createApp } from '../../../src/app.ts'
import { Directory } from '../../../src/store/fs/directory.ts'
import { fsStore } from '../../../src/store/fs.ts'
import type { Store } from '../../../src/store/store.ts'

let directory: string
let store: Store

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'nodestate-unchanged-'))
  store = fsStore(directory)
  writeFileSync(join(directory, 'a.log'), 'one\ntwo\n')
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const ask = (tag?: string, file = 'a.log', include: string[] = []) =>
  createApp({ logs: store, config: '', include }).request(`/api/v1/log/view?file=${file}&size=100`, {
    headers: tag === undefined ? {} : { 'If-None-Match': tag },
  })
const tagOf = async (file = 'a.log') => (await ask(undefined, file)).headers.get('ETag')!

describe('a tail that the client has', () => {
  it('is told as unchanged without opening it, seen before or not, with the headers of the tail', async () => {
    const tag = (await store.stat('a.log'))!.etag
    const open = vi.spyOn(Directory.prototype, 'open')
    for (const given of [tag, `W/${tag}`, tag]) {
      const response = await ask(given)
      expect(response.status).toBe(304)
      expect(await response.text()).toBe('')
      expect(Object.fromEntries(response.headers)).toEqual({
        'cache-control': 'private, no-cache',
        etag: tag,
        vary: 'Accept',
        'x-content-type-options': 'nosniff',
        'x-request-id': expect.any(String),
      })
    }
    expect(open).not.toHaveBeenCalled()
    open.mockRestore()
    await tagOf()
    expect((await ask(tag)).status).toBe(304)
  })

  it('is sent anew after any change', async () => {
    const changes = [
      () => appendFileSync(join(directory, 'a.log'), 'three\n'),
      () => writeFileSync(join(directory, 'a.log'), 'ONE\nTWO\nTHREE\n'),
      () => utimesSync(join(directory, 'a.log'), 1000, 1000),
      () => {
        rmSync(join(directory, 'a.log'))
        writeFileSync(join(directory, 'a.log'), 'again\n')
      },
    ]
    for (const change of changes) {
      const tag = await tagOf()
      expect((await ask(tag)).status).toBe(304)
      await sleep(20)
      change()
      const response = await ask(tag)
      expect(response.status).toBe(200)
      expect(response.headers.get('ETag')).not.toBe(tag)
    }
  })

  it('is not there for who may not see the file, or when it is gone', async () => {
    const tag = await tagOf()
    expect((await ask(tag, 'a.log', ['b*'])).status).toBe(404)
    expect((await ask(tag, '../a.log')).status).toBe(404)
    rmSync(join(directory, 'a.log'))
    expect((await ask(tag)).status).toBe(404)
    rmSync(directory, { recursive: true })
    expect((await ask(tag)).status).toBe(503)
  })
})
