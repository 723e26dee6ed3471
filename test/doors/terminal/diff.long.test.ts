import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cleanUp, launch, type Program, serve, temporaryDirectory } from '../../program.ts'
import { planted, RANGE, SECRETS } from '../../routes/insight/incident/plant.ts'

const params = new URLSearchParams(RANGE)
const TIMES = ['--since', params.get('since')!, '--until', params.get('until')!]
let fleet: Program

beforeAll(async () => {
  const homes = temporaryDirectory()
  for (const [key, text] of Object.entries(planted(2400))) {
    const path = join(homes, key)
    if (!existsSync(join(path, '..'))) mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, text)
  }
  fleet = await serve(['--port=0', '--fleet', homes, '--timezone', 'UTC'])
})
afterAll(cleanUp)

async function run(command: string, args: string[], path = '') {
  const program = launch([command, ...args], { env: { NODESTATE_URL: `${fleet.url}${path}` } })
  const code = await program.exited
  return { code, out: program.stdout(), err: program.stderr() }
}

describe('nodestate diff', () => {
  it('prints what sets a range apart, and exits with 1, as diff does', async () => {
    const { code, out } = await run('diff', ['broker.log', ...TIMES], '/nodes/db-7')
    expect(code).toBe(1)
    const lines = out.split('\n')
    expect(lines[0]).toMatch(/^2026-11-16T02:30:00\.000Z to 2026-11-16T03:00:00\.000Z, \d+ records$/)
    expect(lines[1]).toMatch(/^compared with 2026-11-16T01:30:00\.000Z to 2026-11-16T02:30:00\.000Z, 1200 /)
    expect(lines[3]).toMatch(/^KIND +NOW +BEFORE +WHAT$/)
    expect(out).toMatch(/^config +1 +0 {2}storage\.flush-workers\n +8 → 1$/m)
    expect(out).toMatch(/^pattern +\d+ +0 {2}.+ \(new\)$/m)
    expect(out).toMatch(/^level +\d+ +0 {2}error \(new\)$/m)
  })

  it('takes another base, other nodes, all logs, and gives the answer as JSON', async () => {
    const same = await run(
      'diff',
      ['storage.log', ...TIMES, '--base-since', '2026-11-16T02:30Z', '--base-until', '2026-11-16T03:00Z'],
      '/nodes/db-7',
    )
    expect([same.code, same.out.split('\n').at(-2), same.err]).toEqual([0, 'Nothing sets it apart.', ''])
    const { code, out } = await run('diff', [
      ...TIMES,
      '--node',
      'db-7',
      '--base-node',
      '*',
      '--grep',
      'query',
      '--json',
    ])
    expect(code).toBe(1)
    const { findings } = JSON.parse(out) as { findings: { kind: string; what: string; node?: string }[] }
    expect(findings).toContainEqual(
      expect.objectContaining({ kind: 'config', what: 'storage.flush-workers', node: 'db-7' }),
    )
  })

  it('says what is missing', async () => {
    const said = async (args: string[], path?: string) => {
      const { code, err } = await run('diff', args, path)
      return [code, err]
    }
    expect(await said(['broker.log'])).toEqual([2, expect.stringContaining('--since 15m')])
    expect(await said(['broker.log', ...TIMES])).toEqual([2, expect.stringContaining('--node')])
    const there = '/nodes/db-7'
    expect(await said(['broker.log', ...TIMES, '--base-node', 'x'], there)).toEqual([
      2,
      expect.stringContaining('Cannot use --base-node here'),
    ])
    expect(await said(['nothing.log', ...TIMES], there)).toEqual([2, expect.stringContaining('log')])
  })
})

describe('nodestate incident', () => {
  it('writes one file', async () => {
    const { code, out, err } = await run('incident', [...TIMES, '--node', '*'])
    expect([code, err]).toEqual([0, ''])
    expect(out.startsWith('<!doctype html>')).toBe(true)
    expect(out.endsWith('</html>\n')).toBe(true)
    for (const secret of SECRETS) expect(out.includes(secret), secret).toBe(false)
  })

  it('says what is wrong, and writes nothing', async () => {
    const { code, out, err } = await run('incident', ['broker.log'])
    expect([code, out, err]).toEqual([2, '', expect.stringContaining('Say where the range begins')])
  })
})

describe('nodestate config --blame', () => {
  it('says when each setting changed, the errors around that, and who differs', async () => {
    const one = await run('config', ['--blame'], '/nodes/db-7')
    expect(one.code).toBe(0)
    expect(one.out).toMatch(
      /^2026-11-16T02:30:00\.000Z {2}storage\.flush-workers: 1, was 8, errors per hour 0 -> 150\n/,
    )
    expect(one.out).toMatch(/^db\.password: "\*+"$/m)
    const two = await run('config', ['--blame', '--node', 'db-7'])
    expect(two.out).toContain('-> 150\n  8  db-4\n')
    expect(JSON.parse((await run('config', ['--blame', '--json'], '/nodes/db-7')).out).keys).toHaveLength(2)
  })
})

describe('nodestate config --node', () => {
  it('shows nodes of a fleet', async () => {
    const one = await run('config', ['--node', 'db-7'])
    expect([one.code, one.out.split('\n')[1]]).toEqual([0, 'flush-workers = 1'])
    const two = await run('config', ['--node', 'db-*', '--history'])
    expect([...two.out.matchAll(/^# .*\/nodes\/(.*)$/gm)].map(([, id]) => id)).toEqual(['db-4', 'db-7'])
    expect((await run('config', ['--node', 'db-9'])).err).toContain('The fleet has no node db-9')
    expect((await run('config', ['--node', 'db-7'], '/nodes/db-7')).err).toContain('not of a fleet')
    expect((await run('config', ['--node', 'db-7', '--compare', '*'])).code).toBe(2)
  })
})
