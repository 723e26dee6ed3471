import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cleanUp, launch, serve, temporaryDirectory } from './program.ts'

const readme = readFileSync('README.md', 'utf8')
const commandsOf = (path: string) =>
  [...readFileSync(path, 'utf8').matchAll(/^ {4}(\S.*)$/gm)].map(([, line]) => line!)
const LINE = '2026-11-19 10:00:00.123\tERROR\ta.go:1\t[A]: boom\n'

let folder: string
let logs: string
beforeAll(() => {
  folder = temporaryDirectory()
  logs = join(folder, 'logs')
  mkdirSync(logs)
  writeFileSync(join(logs, 'broker.log'), LINE)
  writeFileSync(join(folder, 'broker.toml'), 'a = 1\n')
})
afterAll(cleanUp)

const sh = (script: string) => {
  const ran = spawnSync('sh', ['-ec', script], { cwd: folder, encoding: 'utf8' })
  expect(ran.status, ran.stderr).toBe(0)
  return ran.stdout
}

/** A command that starts nodestate, with the places and ports of this test. */
const flagsOf = (command: string, places: Record<string, string>) => {
  let text = command.replace(/^npm start( -- )?/, '')
  for (const [shown, real] of Object.entries(places)) text = text.replaceAll(shown, real)
  return text.split(' ').filter((word) => word !== '')
}
const started = (command: string, places: Record<string, string>) =>
  serve([...flagsOf(command, places), '--port', '0', '--log-level', 'off'], { cwd: folder })
const ask = (url: string, headers = {}) => fetch(url, { headers }).then((answer) => answer.json())

describe('README.md', () => {
  const commands = commandsOf('README.md')
  const starting = (word: string) =>
    commands.find((line) => line.startsWith('npm start') && line.includes(word))!

  it('has at most 700 words', () => {
    expect(readme.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length).toBeLessThanOrEqual(700)
    expect(existsSync(/!\[[^\]]*\]\((.*?)\)/.exec(readme)![1]!)).toBe(true)
  })

  it('begins with two commands that are scripts of the package', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
    expect(commands.slice(0, 2)).toEqual([
      'npm ci && npm start',
      expect.stringMatching(/^npm ci && npm test\b/),
    ])
    for (const name of ['start', 'test']) expect(scripts[name]).toBeDefined()
  })

  it('one node: the token, the service and the request', async () => {
    sh(commands.find((line) => line.startsWith('openssl'))!)
    const places = { '/var/log/lindb': logs, '/etc/lindb/broker.toml': 'broker.toml' }
    const { url } = await started(starting('--token-file token'), places)
    const curl = commands.find((line) => line.startsWith('curl -H'))!
    const here = curl.replace('http://127.0.0.1:9000', url).replace('curl', 'curl -sS --fail-with-body')
    expect(JSON.parse(sh(here))).toEqual([{ name: 'broker.log', size: LINE.length }])
    expect((await fetch(`${url}/api/v1/log/list`)).status).toBe(401)
  })

  it('a cluster: the nodes that are named', async () => {
    const [one, two] = await Promise.all([
      started(`npm start -- --logs ${logs}`, {}),
      started(`npm start -- --logs ${logs}`, {}),
    ])
    const places = { 'http://db-1:9000': one.url, 'http://db-2:9000': two.url }
    const { url } = await started(starting('--peer-token-file'), places)
    const nodes = (await ask(`${url}/api/v1/nodes`)) as { id: string; live: boolean }[]
    expect(nodes.map(({ id, live }) => [id, live])).toEqual([
      ['db-1', true],
      ['db-2', true],
    ])
  })

  it('a bucket: shipped, and shown as a fleet', async () => {
    const bucket = join(folder, 'bucket')
    mkdirSync(bucket)
    const places = { 's3://logs': bucket, '/var/log/lindb': logs }
    const ship = launch([...flagsOf(starting('ship'), places), '--once'], { cwd: folder })
    expect(await ship.exited, ship.stderr()).toBe(0)
    const { url } = await started(starting('--fleet'), places)
    expect(await (await fetch(`${url}/nodes/db-4/api/v1/log/view?file=broker.log`)).text()).toBe(LINE)
  })

  it('logs in S3 that others wrote: a folder of dated objects is one log', async () => {
    const bucket = join(folder, 'theirs')
    mkdirSync(join(bucket, 'app/2026/11/19/10'), { recursive: true })
    writeFileSync(join(bucket, 'app/2026/11/19/10/app-2026-11-19-10-00-00-0001.log'), LINE)
    const { url } = await started(starting('--join'), { 's3://my-logs': bucket })
    expect(await ask(`${url}/api/v1/log/list`)).toEqual([{ name: 'app', size: LINE.length }])
  })

  it('the API: a request that has an answer on the sample', async () => {
    const { url } = await started('npm start -- demo', {})
    const curl = commands.find((line) => line.startsWith("curl 'http"))!
    const lines = sh(
      curl.replace('http://127.0.0.1:9000', url).replace('curl', 'curl -sS --fail-with-body'),
    ).split('\n')
    expect(lines.filter((line) => line.includes('\tERROR\t')).length).toBeGreaterThan(2)
  })
})

describe('docs/first-incident.md', () => {
  it('its command finds the setting that had changed', async () => {
    const { url } = await serve(['demo', '--port', '0'])
    const command = commandsOf('docs/first-incident.md').find((line) => line.includes(' diff '))!
    const ran = spawnSync(
      'sh',
      ['-c', command.replace('http://127.0.0.1:9000', url).replace('node dist', `node ${resolve('dist')}`)],
      {
        encoding: 'utf8',
      },
    )
    // As diff does: 1 where there is a difference.
    expect(ran.status, ran.stderr).toBe(1)
    expect(ran.stdout).toContain('storage.memtable-size')
  })

  it('has its four pictures', () => {
    const pictures = [...readFileSync('docs/first-incident.md', 'utf8').matchAll(/!\[[^\]]*\]\((.*?)\)/g)]
    expect(pictures).toHaveLength(4)
    for (const [, path] of pictures) expect(existsSync(join('docs', path!)), path).toBe(true)
  })
})

describe('docs/cluster.md', () => {
  it('its settings file makes each node show all', async () => {
    const text = readFileSync('docs/cluster.md', 'utf8')
    sh(commandsOf('docs/cluster.md').find((line) => line.startsWith('openssl'))!)
    const toml = /```toml\n([\s\S]*?)```/.exec(text)![1]!.replace('/var/log/lindb', logs)
    writeFileSync(join(folder, 'cluster.toml'), toml)
    const command = commandsOf('docs/cluster.md').find((line) => line.startsWith('npm start -- --settings'))!
    const { url } = await started(command, { 'cluster.toml': 'cluster.toml' })
    const token = readFileSync(join(folder, 'token'), 'utf8').trim()
    const nodes = (await ask(`${url}/api/v1/nodes`, { Authorization: `Bearer ${token}` })) as {
      id: string
      live?: boolean
    }[]
    expect(nodes.map(({ id }) => id)).toEqual(['db-1', 'db-2', 'db-3'])
  })
})
