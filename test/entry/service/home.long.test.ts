import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { MASK } from '../../../src/core/mask/redact.ts'
import { cleanUp, launch, serve, temporaryDirectory } from '../../program.ts'
import { NODE } from '../../support/node.ts'
import { type S3Server, startS3Server } from '../../support/s3-server.ts'

const CONFIG = '[http]\npassword = "hunter2"\n'
const LINE = '2026-01-02 03:04:05.678\tINFO\ta/b.go:1\t[Broker]: started\n'

let server: S3Server
let env: Record<string, string>
beforeAll(async () => {
  server = await startS3Server()
  server.put('nodes/db-4/node.json', JSON.stringify(NODE))
  server.put('nodes/db-4/config.toml', CONFIG)
  server.put('nodes/db-4/logs/a b+c.log', LINE)
  server.put('nodes/db-4/logs/old/deep.log', LINE)
  server.put('nodes/db-4/logs/', '')
  server.put('nodes/db-5/logs/other.log', LINE)
  env = { AWS_ENDPOINT_URL: server.endpoint, AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' }
})
afterEach(cleanUp)
afterAll(() => server.close())

async function json(url: string): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(url)
  return { status: answer.status, body: await answer.json() }
}

describe('nodestate serve', () => {
  it.each(['s3://logs/nodes/db-4', 's3://logs/nodes/db-4/'])('--home %s', async (home) => {
    const program = await serve(['serve', '--home', home, '--port', '0'], { env })
    expect(program.stdout()).toContain('with the logs in s3://logs/nodes/db-4/logs')
    expect(await json(`${program.url}/api/v1/config`)).toEqual({
      status: 200,
      body: { config: CONFIG.replace('hunter2', MASK), node: NODE },
    })
    expect(await json(`${program.url}/api/v1/log/list`)).toEqual({
      status: 200,
      body: [{ name: 'a b+c.log', size: LINE.length }],
    })
    const tail = await fetch(`${program.url}/api/v1/log/view?file=a%20b%2Bc.log`)
    expect(await tail.text()).toBe(LINE)
    for (const file of ['old/deep.log', 'old%2Fdeep.log', '..%2Fnode.json', '../config.toml'])
      expect((await fetch(`${program.url}/api/v1/log/view?file=${file}`)).status).toBe(404)
    await expect.poll(program.stderr).toContain('\tINFO\t')
  })

  it('--home of a node that has only logs says what is missing', async () => {
    const program = await serve(['serve', '--home', 's3://logs/nodes/db-5', '--port', '0'], { env })
    const { status, body } = await json(`${program.url}/api/v1/config`)
    expect(status).toBe(503)
    expect(body).toMatchObject({ type: '/problems/missing-object' })
    expect((await json(`${program.url}/api/v1/log/list`)).body).toEqual([
      { name: 'other.log', size: LINE.length },
    ])
  })

  it('--logs in a bucket, and a bucket that is not there', async () => {
    const program = await serve(['serve', '--logs', 's3://logs/nodes/db-5/logs', '--port', '0'], { env })
    expect((await json(`${program.url}/api/v1/log/list`)).body).toEqual([
      { name: 'other.log', size: LINE.length },
    ])
    const lost = await serve(['serve', '--logs', 's3://nowhere', '--port', '0'], { env })
    for (const path of ['list', 'view?file=x'])
      expect(await json(`${lost.url}/api/v1/log/${path}`)).toMatchObject({
        status: 503,
        body: { type: '/problems/storage-unavailable' },
      })
  })

  it('--home of a directory, and settings that are stronger than it', async () => {
    const home = temporaryDirectory()
    mkdirSync(join(home, 'logs'))
    writeFileSync(join(home, 'node.json'), JSON.stringify(NODE))
    writeFileSync(join(home, 'config.toml'), CONFIG)
    writeFileSync(join(home, 'logs', 'a.log'), LINE)
    const program = await serve(['serve', '--home', home, '--port', '0', '--host-name', 'other'])
    expect((await json(`${program.url}/api/v1/config`)).body).toEqual({
      config: CONFIG.replace('hunter2', MASK),
      node: { ...NODE, hostName: 'other' },
    })
    expect((await json(`${program.url}/api/v1/log/list`)).body).toEqual([
      { name: 'a.log', size: LINE.length },
    ])
    const own = temporaryDirectory()
    writeFileSync(join(own, 'own.log'), '')
    const both = await serve(['serve', '--home', home, '--logs', own, '--port', '0'])
    expect((await json(`${both.url}/api/v1/log/list`)).body).toEqual([{ name: 'own.log', size: 0 }])
  })

  it('refuses half of the credentials and an endpoint that is none', async () => {
    const half = launch(['--home', 's3://logs/x', '--port', '0'], { env: { AWS_ACCESS_KEY_ID: 'key' } })
    expect(await half.exited).toBe(2)
    expect(half.stderr()).toContain('AWS_SECRET_ACCESS_KEY')
    const wrong = launch(['--home', 's3://logs/x', '--port', '0'], {
      env: { AWS_ENDPOINT_URL: 'minio:9000' },
    })
    expect(await wrong.exited).toBe(2)
    expect(wrong.stderr()).toContain('AWS_ENDPOINT_URL')
  })
})
