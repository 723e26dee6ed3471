import { afterEach, describe, expect, it, vi } from 'vitest'
import { runTerminal } from '../../../src/doors/terminal/terminal.ts'

afterEach(() => {
  vi.unstubAllGlobals()
})

/** Runs a command against a node that answers every request alike. */
async function run(
  name: string,
  positional: string[],
  flags: Record<string, string[]>,
  answer: () => Response,
) {
  const written = { out: '', err: '' }
  const output = (name: 'out' | 'err') => ({
    isTTY: false,
    async write(text: string) {
      written[name] += text
      return true
    },
  })
  let requests = 0
  vi.stubGlobal('fetch', async () => {
    if (++requests > 50) throw new Error('This would never end')
    return answer()
  })
  const world = {
    env: { NODESTATE_URL: 'http://node' },
    stdout: output('out'),
    stderr: output('err'),
    readFile: async () => '',
    signal: new AbortController().signal,
  }
  const code = await runTerminal(name, { positional, flags: new Map(Object.entries(flags)) }, world)
  return { code, ...written, requests }
}

const page = (text: string, prev: string) => () =>
  new Response(text, {
    headers: { Link: `<?before=${prev}>; rel="prev"`, 'X-Nodestate-Note': 'scan-budget' },
  })

describe('a node that gives the same page for ever', () => {
  it.each([
    ['without a record', '', ''],
    ['with a record', 'one\n', 'one\n'],
  ])('%s does not keep tail', async (_, text, out) => {
    const told = await run('tail', ['a.log'], { lines: ['5'] }, page(text, 'same'))
    expect(told).toEqual({
      code: 2,
      out,
      err: expect.stringMatching(/^nodestate: a\.log: .*\n$/),
      requests: 2,
    })
  })

  it('does not keep tail if its pages lead in a circle', async () => {
    let turn = 0
    const told = await run('tail', ['a.log'], { lines: ['5'] }, () => page('', `c${turn++ % 3}`)())
    expect(told).toMatchObject({ code: 2, out: '', requests: 4 })
  })

  it('does not keep tail from getting on', async () => {
    let turn = 0
    const told = await run('tail', ['a.log'], { lines: ['5'] }, () => page(`${5 - turn}\n`, `c${turn++}`)())
    expect(told).toMatchObject({ code: 0, out: '1\n2\n3\n4\n5\n', err: '', requests: 5 })
  })

  it('has its notes printed once', async () => {
    let turn = 0
    const headers = () => ({
      Link: `<?before=c${turn++}>; rel="prev"`,
      'X-Nodestate-Note': 'scan-budget, time-order',
    })
    const told = await run(
      'tail',
      ['a.log'],
      { lines: ['3'] },
      () => new Response('one\n', { headers: headers() }),
    )
    expect(told).toMatchObject({ code: 0, requests: 3 })
    expect(told.err).toMatch(/^nodestate: a\.log: The times in this log are not in order;[^\n]*\n$/)
  })

  it.each([
    ['tail', ['a.log', 'b.log'], {}],
    ['tail', ['*.log'], { json: [''] }],
    ['grep', ['x', '*.log'], {}],
    ['grep', ['x'], { count: [''] }],
    ['grep', ['x'], { 'files-with-matches': [''] }],
  ])('with a log that has no times does not keep %s %j', async (name, args, flags) => {
    const headers = { 'X-Nodestate-Missing': 'c.log;no-time' }
    const told = await run(name, args, flags, () => new Response('', { headers }))
    expect(told).toMatchObject({ code: 2, err: 'nodestate: c.log was not read: no-time.\n', requests: 2 })
  })

  it.each(['grep', 'tail'])('as a problem does not keep %s', async (name) => {
    const problem = JSON.stringify({ type: '/problems/too-many-sources', detail: 'Too many.' })
    const told = await run(name, ['x', '*.log'], {}, () => new Response(problem, { status: 400 }))
    expect(told).toMatchObject({ code: 2, out: '' })
    expect(told.requests).toBeLessThan(4)
  })
})
