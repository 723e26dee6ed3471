import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { partsFolder } from './parts/parts.mjs'
import { cleanUp, launch, type Program, serve, temporaryDirectory } from './program.ts'
import { bucketWriter } from './support/bucket.ts'
import { lacking, part } from './support/parts.ts'

/** The statements of docs/scale.md by their comments, in their order. */
const statements = new Map(
  [...readFileSync('docs/scale.md', 'utf8').matchAll(/^```sql\n-- (.*)\n([\s\S]*?)^```/gm)].map(
    ([, comment, text]) => [comment!, text!],
  ),
)

const ceph = process.env.NODESTATE_TEST_RADOSGW?.replace(/^.*AWS_ENDPOINT_URL=(\S+).*$/s, '$1')
const missing =
  part('chdb').missing ??
  (ceph ? null : lacking('NODESTATE_TEST_RADOSGW does not name an endpoint: see test/support/radosgw.sh'))

/** Long enough ago that nothing here is newer than the ten minutes of a refresh. */
const DAY = Date.UTC(2026, 10, 13)
const NODES = ['db-4', 'db-7']
const TOKEN = 'sesame'

/** Records of one file, some of several lines, with every character that a reader could stumble over. */
function text(node: string, from: number, records: number): string {
  const line = (i: number) => {
    const time = new Date(DAY + (from + i) * 50).toISOString().replace('T', ' ').slice(0, 23)
    const level = i % 50 === 0 ? 'ERROR' : 'INFO'
    const below = i % 1000 === 0 ? '\n\tat wal.sync()\n\n\tERROR below' : ''
    return `${time}\t${level}\twal/page.go:${i % 90}\t[Storage] [WAL]: "line" ${node} ${i}\\t ☃ 'x', ${'.'.repeat(i % 80)}\t{"shard":${i % 17}}${below}\n`
  }
  return Array.from({ length: records }, (_, i) => line(i)).join('')
}

describe.skipIf(missing)(`docs/scale.md${missing ? ` (${missing})` : ''}`, { timeout: 300_000 }, () => {
  const place = {
    endpoint: ceph ?? '',
    bucket: `scale-${Date.now().toString(36)}`,
    accessKeyId: 'testkey',
    secretAccessKey: 'testsecret',
    region: 'default',
  }
  const env = {
    AWS_ENDPOINT_URL: place.endpoint,
    AWS_ACCESS_KEY_ID: place.accessKeyId,
    AWS_SECRET_ACCESS_KEY: place.secretAccessKey,
    AWS_REGION: place.region,
    NODESTATE_TOKEN: TOKEN,
  }
  let program: Program
  /** Lines of all files of a node. */
  const written = new Map<string, string[]>()

  beforeAll(async () => {
    await bucketWriter(place).create()
    for (const node of NODES) {
      const logs = join(temporaryDirectory(), 'logs')
      mkdirSync(logs)
      const files = [text(node, 0, 30_000), text(node, 30_000, 20_000), text(node, 50_000, 10_000)]
      // The log was just rotated: all of its text is in segments.
      for (const [i, name] of ['broker.log.3', 'broker.log.2', 'broker.log.1'].entries())
        writeFileSync(join(logs, name), files[i]!)
      writeFileSync(join(logs, 'broker.log'), '')
      written.set(node, files.join('').split('\n').slice(0, -1))
      const home = `s3://${place.bucket}/prod/${node}`
      const ship = launch(['ship', '--once', '--segment-bytes', '1MiB', '--logs', logs, home], { env })
      expect(await ship.exited, ship.stderr()).toBe(0)
    }
    program = await serve(['--port', '0', '--fleet', `s3://${place.bucket}/prod`], { env })
  }, 300_000)
  afterAll(cleanUp)

  /** The statements with this comment, or of this text, as somebody would run them here: the rows of each, or its error. */
  function run(...given: string[]): { rows: Record<string, unknown>[]; error?: string }[] {
    const here = given.map((name) =>
      (statements.get(name) ?? name)
        .replaceAll('http://s3.example.com/logs', `${place.endpoint}/${place.bucket}`)
        .replaceAll('http://nodestate.example.com:9000', program.url)
        .replaceAll("'KEY', 'SECRET'", `'${place.accessKeyId}', '${place.secretAccessKey}'`)
        .replaceAll('Bearer TOKEN', `Bearer ${TOKEN}`),
    )
    const script = join(partsFolder, 'long/chdb.mjs')
    const options = { input: JSON.stringify(here), encoding: 'utf8', maxBuffer: 2 ** 28 } as const
    return JSON.parse(execFileSync(process.execPath, [script], options))
  }

  /** What nodestate itself answers. */
  const ask = async (path: string) => {
    const response = await fetch(`${program.url}${path}`, { headers: { Authorization: `Bearer ${TOKEN}` } })
    expect(response.status, path).toBe(200)
    return response.text()
  }
  const ours = async (node: string, filter = '') => {
    const query = `node=${node}&file=broker.log&download=true&format=ndjson${filter}`
    return (await ask(`/api/v1/log/view?${query}`)).split('\n').length - 1
  }

  it('runs every statement', () => {
    expect([...statements.keys()]).toEqual([
      'lines of all nodes that contain a text',
      'the same on all servers of the cluster named default',
      'one row for each record',
      'everything that the bucket has',
      'overlapping parts of the timeline',
      'errors of each node',
      'a day',
      'one row for each line',
      'segments that are not in the table yet',
      'watches the bucket',
      'and copies what arrives',
    ])
  })

  it('finds in place the lines that were written', () => {
    const [found] = run('lines of all nodes that contain a text')
    const wanted = [...written.values()].flat().filter((line) => line.includes('ERROR'))
    expect(found!.rows.map(({ line }) => line).sort()).toEqual(wanted.sort())
    for (const { _path } of found!.rows)
      expect(_path).toMatch(/\/prod\/db-[47]\/segments\/broker\.log\/\d+\/\S+\.log\.gz$/)
  })

  it('counts on a cluster what it counts on one machine; chdb has no cluster', () => {
    const name = 'the same on all servers of the cluster named default'
    const alone = statements.get(name)!.replace("s3Cluster('default', ", 's3(')
    const [cluster, one] = run(name, alone)
    expect(cluster!.error).toContain('CLUSTER_DOESNT_EXIST')
    const lines = NODES.map((node) => ({ node, lines: written.get(node)!.length }))
    expect(one!.rows).toEqual(lines)
  })

  it('has as many records and errors as nodestate, once and twice loaded, and none of a dropped day', async () => {
    const counts = 'SELECT node, count() AS records FROM records FINAL GROUP BY node ORDER BY node'
    const load = 'everything that the bucket has'
    const steps = [
      'one row for each record',
      load,
      counts,
      load,
      counts,
      'errors of each node',
      'a day',
      counts,
    ]
    const answers = run(...steps)
    for (const [i, { error }] of answers.entries()) expect(error, steps[i]).toBeUndefined()
    const records = await Promise.all(NODES.map(async (node) => ({ node, records: await ours(node) })))
    expect(records[0]!.records).toBe(60_000)
    expect(answers[2]!.rows).toEqual(records)
    expect(answers[4]!.rows).toEqual(records)
    const errors = NODES.map(async (node) => ({ node, errors: await ours(node, '&level==error') }))
    expect(answers[5]!.rows).toEqual(await Promise.all(errors))
    // All records are of that day.
    expect(answers[7]!.rows).toEqual([])
  })

  it('takes the newest records again and again', async () => {
    const logs = join(temporaryDirectory(), 'logs')
    mkdirSync(logs)
    const line = (i: number) =>
      `${new Date(Date.now() - 60_000 + i).toISOString()}\tINFO\ta.go:1\t[A]: ${i}\n`
    writeFileSync(join(logs, 'broker.log'), Array.from({ length: 500 }, (_, i) => line(i)).join(''))
    const ship = launch(['ship', '--once', '--logs', logs, `s3://${place.bucket}/prod/db-9`], { env })
    expect(await ship.exited, ship.stderr()).toBe(0)
    await expect.poll(() => ours('db-9')).toBe(500)
    const answers = run(
      'one row for each record',
      'overlapping parts of the timeline',
      ...Array.from({ length: 2 }, () => ['SYSTEM REFRESH VIEW newest', 'SYSTEM WAIT VIEW newest']).flat(),
      'SELECT node, count() AS records FROM records FINAL GROUP BY node',
    )
    for (const { error } of answers) expect(error).toBeUndefined()
    expect(answers.at(-1)!.rows).toEqual([{ node: 'db-9', records: 500 }])
  })

  it('has every line of the segments once, however often they are loaded', async () => {
    const load = 'segments that are not in the table yet'
    const counts = 'SELECT node, log, count() AS lines FROM lines GROUP BY ALL ORDER BY node'
    const answers = run('one row for each line', load, counts, load, counts)
    for (const { error } of answers) expect(error).toBeUndefined()
    const text = (node: string) =>
      ask(`/api/v1/log/view?node=${node}&file=broker.log&download=true`).then(
        (all) => all.split('\n').length - 1,
      )
    // The log of db-9 still grows, and has no segment yet.
    const lines = NODES.map(async (node) => ({ node, log: 'broker.log', lines: await text(node) }))
    expect(answers[2]!.rows).toEqual(await Promise.all(lines))
    expect(answers[4]!.rows).toEqual(answers[2]!.rows)
  })

  it('refuses S3Queue only for the Keeper that chdb lacks, and its view selects what was shipped', () => {
    const queue = statements.get('watches the bucket')!
    const view = statements.get('and copies what arrives')!
    const select = view
      .slice(view.indexOf('SELECT'))
      .replace('FROM segments', `FROM (SELECT _path, line FROM ${queueAsFunction(queue)})`)
    const [table, misspelt, rows] = run(
      queue,
      queue.replace('tracked_files_limit', 'tracked_file_limit'),
      `SELECT node, log, count() AS lines FROM (${select}) GROUP BY ALL ORDER BY node`,
    )
    expect(table!.error).toContain('There is no Zookeeper configuration')
    expect(misspelt!.error).toContain('UNKNOWN_SETTING')
    expect(rows!.rows).toEqual(
      NODES.map((node) => ({ node, log: 'broker.log', lines: written.get(node)!.length })),
    )
  })
})

/** The engine's arguments as those of `s3()`. */
function queueAsFunction(statement: string): string {
  const [, args] = /S3Queue\(([\s\S]*?)\)/.exec(statement)!
  return `s3(${args}, 'line String')`
}
