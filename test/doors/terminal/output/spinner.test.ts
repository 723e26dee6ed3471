import { afterEach, expect, it, vi } from 'vitest'
import { withSpinner } from '../../../../src/doors/terminal/output/spinner.ts'
import { runTerminal } from '../../../../src/doors/terminal/terminal.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

function onTerminal() {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] })
  const written: string[] = []
  const output = (name: string) => ({
    isTTY: true,
    async write(text: string) {
      written.push(`${name} ${JSON.stringify(text)}`)
      return true
    },
  })
  const { signal } = new AbortController()
  const env = { NODESTATE_URL: 'http://node' }
  const world = { env, stdout: output('out'), stderr: output('err'), readFile: async () => '', signal }
  return { world, written }
}

it('shows progress after a while, and removes it when the work is done', async () => {
  const { world, written } = onTerminal()
  let finish = () => {}
  const work = new Promise<void>((resolve) => {
    finish = resolve
  })
  const done = withSpinner(world, 'reading\x1b[2J', () => work)
  vi.advanceTimersByTime(200)
  expect(written).toEqual([])
  vi.advanceTimersByTime(200)
  expect(written[0]).toBe('err "\\r⠋ reading^[[2J"')
  finish()
  await done
  expect(written.at(-1)).toBe('err "\\r\\u001b[K"')
})

it.each([
  [{}, /^err "\\r⠋ reading/],
  [{ json: [''] }, /^out "\{/],
])('a slow tail %j begins with what is expected on a terminal', async (flags, first) => {
  const { world, written } = onTerminal()
  vi.stubGlobal('fetch', async () => {
    vi.advanceTimersByTime(2000)
    return new Response('{"raw":"a"}\n')
  })
  const line = { positional: ['a.log'], flags: new Map<string, string[]>(Object.entries(flags)) }
  expect(await runTerminal('tail', line, world)).toBe(0)
  expect(written[0]).toMatch(first)
  expect(written.at(-1)).toMatch(/^out /)
  expect(written.at(-2) ?? 'err "\\r\\u001b[K"').toBe('err "\\r\\u001b[K"')
})
