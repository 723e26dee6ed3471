import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'nodestate-lnav-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const missing = spawnSync('lnav', ['-V']).error !== undefined
if (missing && process.env.NODESTATE_TEST_COMPLETE) throw new Error("Debian's lnav is missing")

const LOG = [
  '2026-11-15 02:10:00.123\tERROR\tstorage/wal.go:17\t[Storage] [WAL]: sync failed\t{"shard":17}',
  '\tat storage.sync',
  '2026-11-15 02:10:00.124\tINFO\tbroker/runtime.go:3\tstarted',
  '2026-11-15 02:10:00.125\tWARN\tbroker/runtime.go:4\t[ Broker][Runtime]: with\ta tab',
]

describe.skipIf(missing)("the lnav format (needs Debian's lnav)", () => {
  it('reads time, level, source, tags, message, context and continuations', () => {
    const formats = join(folder, 'config/formats/nodestate')
    mkdirSync(formats, { recursive: true })
    copyFileSync('deploy/lnav/nodestate.json', join(formats, 'nodestate.json'))
    writeFileSync(join(folder, 'broker.log'), `${LOG.join('\n')}\n`)
    const query =
      ';SELECT log_line, log_time, log_level, src_file, src_line, tags, context FROM node_state_log'
    const out = execFileSync(
      'lnav',
      ['-I', join(folder, 'config'), '-n', '-c', query, '-c', ':write-json-to -', join(folder, 'broker.log')],
      { encoding: 'utf8', env: { ...process.env, HOME: folder } },
    )
    const rows = JSON.parse(out) as Record<string, unknown>[]
    expect(
      rows.map((row) => [row.log_line, row.log_level, row.src_file, Number(row.src_line), row.tags]),
    ).toEqual([
      [0, 'error', 'storage/wal.go', 17, '[Storage] [WAL]'],
      [2, 'info', 'broker/runtime.go', 3, null],
      [3, 'warning', 'broker/runtime.go', 4, '[ Broker][Runtime]'],
    ])
    expect(rows[0]!.log_time).toBe('2026-11-15 02:10:00.123')
    expect(rows[0]!.context).toEqual({ shard: 17 })
  })
})
