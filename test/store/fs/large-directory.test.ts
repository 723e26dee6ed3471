import * as fs from 'node:fs'
import * as promises from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { fsStore } from '../../../src/store/fs.ts'
import { createApp } from '../../support/app.ts'

vi.mock('node:fs', async (original) => {
  const real = await original<typeof fs>()
  return { ...real, readdirSync: vi.fn(real.readdirSync) }
})
vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof promises>()
  return { ...real, readdir: vi.fn(real.readdir) }
})

let directory: string
beforeAll(() => {
  directory = fs.mkdtempSync(join(tmpdir(), 'nodestate-large-'))
  for (let i = 0; i < 2000; i++) fs.writeFileSync(join(directory, `other-${i}.txt`), '')
  for (const [i, name] of ['app.log', 'app.log.1', 'app.log.2'].entries()) {
    fs.writeFileSync(join(directory, name), `${name}\n`)
    // Nothing but the times tells which number is the newest.
    fs.utimesSync(join(directory, name), 1_800_000_000 - i, 1_800_000_000 - i)
  }
})
afterAll(() => fs.rmSync(directory, { recursive: true, force: true }))

describe('a large directory', () => {
  it('is not read again for each name that is not there', async () => {
    const app = createApp({ logs: fsStore(directory), config: '' })
    vi.mocked(promises.readdir).mockClear()
    for (const name of ['absent.log', 'app.log.99', 'other-99999.txt'])
      for (const query of ['', '&size=100', '&lines=5', '&q=x', '&level=error'])
        expect((await app.request(`/api/v1/log/view?file=${name}${query}`)).status, name + query).toBe(404)
    // The nearest name is looked for in one list, which is remembered for a while.
    expect(vi.mocked(promises.readdir).mock.calls.length).toBeLessThan(5)
    expect(fs.readdirSync).not.toHaveBeenCalled()
  })

  it('is read off the event loop, by fewer reads than there are clients', async () => {
    const app = createApp({ logs: fsStore(directory), config: '' })
    vi.mocked(promises.readdir).mockClear()
    const answers = await Promise.all(
      Array.from({ length: 16 }, () => app.request('/api/v1/log/view?file=app.log&rotated=true&lines=9')),
    )
    for (const answer of answers) expect(await answer.text()).toBe('app.log.2\napp.log.1\napp.log\n')
    expect(vi.mocked(promises.readdir).mock.calls.length).toBeLessThan(16)
    expect(fs.readdirSync).not.toHaveBeenCalled()
  })
})
