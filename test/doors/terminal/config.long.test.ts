import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { versionKey } from '../../../src/store/segment/configs.ts'
import { cleanUp, launch, type Program, serve, temporaryDirectory } from '../../program.ts'

const NODE = { hostIp: '10.0.0.1', grpcPort: 1, httpPort: 2, version: '1', onlineTime: 3 }
const T = Date.UTC(2026, 10, 14, 2)
let fleet: Program

beforeAll(async () => {
  const homes = temporaryDirectory()
  const put = (key: string, text: string) => {
    const path = join(homes, key)
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, text)
  }
  for (const [id, max] of [
    ['db-1', 30],
    ['db-2', 30],
    ['db-3', 64],
  ] as const) {
    put(`${id}/node.json`, JSON.stringify({ ...NODE, hostName: id }))
    put(`${id}/config.toml`, `max = ${max}\ndir = "/data/${id}"\npassword = "hunter22"\n`)
  }
  put('db-9/node.json', JSON.stringify({ ...NODE, hostName: 'db-9' }))
  const versions = ['max = 30\n', '# more\nmax = 30\n', 'max = 64\n"a b" = "x"\n']
  for (const [i, text] of versions.entries())
    put(`db-3/${versionKey({ time: T + i * 60_000, crc: i })}`, text)
  fleet = await serve(['--port=0', '--fleet', homes, '--timezone', 'UTC'])
})
afterAll(cleanUp)

async function run(args: string[], path = '') {
  const program = launch(['config', ...args], { env: { NODESTATE_URL: `${fleet.url}${path}` } })
  const code = await program.exited
  return { code, out: program.stdout(), err: program.stderr() }
}

describe('nodestate config', () => {
  it('--history says what changed in each version', async () => {
    expect(await run(['--history'], '/nodes/db-3')).toEqual({
      code: 0,
      out: [
        '2026-11-14T02:02:00.000Z',
        '  "a b": (not set) -> "x"',
        '  max: 30 -> 64',
        '2026-11-14T02:01:00.000Z  only comments or layout',
        '2026-11-14T02:00:00.000Z',
        '',
      ].join('\n'),
      err: '',
    })
    const { out } = await run(['--history', '--json'], '/nodes/db-3')
    expect(JSON.parse(out)).toHaveLength(3)
  })

  it('--at prints the version of a time', async () => {
    const at = await run(['--at', '2026-11-14T02:01:30Z'], '/nodes/db-3')
    expect(at).toEqual({ code: 0, out: '# more\nmax = 30\n', err: '' })
    const json = await run(['--at', '2026-11-14 02:02', '--json'], '/nodes/db-3')
    expect(JSON.parse(json.out).time).toBe(T + 120_000)
    const early = await run(['--at', '2026-11-13'], '/nodes/db-3')
    expect([early.code, early.out]).toEqual([2, ''])
    expect(early.err).toMatch(/^nodestate: No version of the configuration .*\n$/)
  })

  it('--compare exits with 1 if there are unexpected differences, as diff does', async () => {
    const different = await run(['--compare', 'db-[123]'])
    expect(different).toEqual({
      code: 1,
      out: 'max\n  30  db-1 db-2\n  64  db-3\n',
      err: 'nodestate: 1 expected difference is not shown; see --json.\n',
    })
    const same = await run(['--compare', 'db-1', '--compare', 'db-2'])
    expect([same.code, same.out]).toEqual([0, ''])
    const json = await run(['--compare', 'db-[123]', '--json'])
    expect([json.code, json.err]).toEqual([1, ''])
    expect(JSON.parse(json.out).keys.map(({ key }: { key: string }) => key)).toEqual(['max', 'dir'])
  })

  it('--compare exits with 2 if not all nodes could be compared', async () => {
    const missing = await run(['--compare', 'db-1', '--compare', 'db-9'])
    expect([missing.code, missing.out]).toEqual([2, ''])
    expect(missing.err).toBe('nodestate: db-9 was not compared: no-config.\n')
    expect((await run(['--compare', 'db-*'])).code).toBe(1)
    expect((await run(['--compare', 'none'])).code).toBe(2)
    expect(await run(['--compare', 'db-*'], '/nodes/db-1')).toEqual({
      code: 2,
      out: '',
      err: 'nodestate: Cannot use --compare here: the URL is that of a single node, not of a fleet.\n',
    })
  })

  it('takes one of them', async () => {
    const { code, err } = await run(['--history', '--at', '1h'])
    expect([code, err]).toEqual([2, 'nodestate: Cannot use --at and --history together: give one of them.\n'])
  })
})
