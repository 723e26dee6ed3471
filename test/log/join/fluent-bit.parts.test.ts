import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { s3Store } from '../../../src/store/s3.ts'
import { createApp } from '../../support/app.ts'
import { bucketWriter } from '../../support/bucket.ts'
import { lacking } from '../../support/parts.ts'

const fluentBit = process.env.NODESTATE_TEST_FLUENT_BIT
const ceph = process.env.NODESTATE_TEST_RADOSGW
// The program is built for x86-64: a machine that cannot run it has none to name.
const missing = !fluentBit
  ? 'NODESTATE_TEST_FLUENT_BIT does not name the program'
  : ceph
    ? null
    : lacking('NODESTATE_TEST_RADOSGW does not name an endpoint: see test/support/radosgw.sh')

const running: ChildProcess[] = []
const folders: string[] = []
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL')
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

describe.skipIf(missing)(`a bucket of Fluent Bit${missing ? ` (${missing})` : ''}`, () => {
  it.each([false, true])('is read while it ships (gzip: %s)', { timeout: 180_000 }, async (gzip) => {
    const place = {
      endpoint: ceph!,
      bucket: `fluent-${gzip ? 'gzip' : 'plain'}-${Date.now().toString(36)}`,
      accessKeyId: 'testkey',
      secretAccessKey: 'testsecret',
      region: 'default',
    }
    await bucketWriter(place).create()
    const folder = mkdtempSync(join(tmpdir(), 'nodestate-fluent-'))
    folders.push(folder)
    const log = join(folder, 'app.log')
    writeFileSync(log, '')
    const lines: string[] = []
    const write = (count: number) => {
      const more = Array.from({ length: count }, () => {
        const time = new Date(Date.UTC(2026, 10, 15, 10) + lines.length * 1000).toISOString()
        const level = lines.length % 10 ? 'info' : 'error'
        lines.push(
          `${time.slice(0, 23).replace('T', ' ')}\t${level}\tserver.go:1\t[Broker]: line ${lines.length}`,
        )
        return lines.at(-1)
      })
      appendFileSync(log, `${more.join('\n')}\n`)
    }
    const child = spawn(
      fluentBit!,
      [
        ['-q', '-f', '1', '-i', 'tail', '-t', 'app'],
        ['-p', `path=${log}`, '-p', 'read_from_head=true', '-p', 'refresh_interval=1'],
        ['-o', 's3', '-m', '*', '-p', `bucket=${place.bucket}`, '-p', 'region=us-east-1'],
        ['-p', `endpoint=${ceph}`, '-p', 'upload_timeout=2s', '-p', 'total_file_size=1M'],
        ['-p', 'use_put_object=true', '-p', `store_dir=${join(folder, 'store')}`],
        gzip ? ['-p', 'compression=gzip'] : [],
      ].flat(),
      {
        env: { ...process.env, AWS_ACCESS_KEY_ID: 'testkey', AWS_SECRET_ACCESS_KEY: 'testsecret' },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    running.push(child)
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text))
    const app = createApp({ logs: s3Store(place), config: '', join: true })
    const ask = async (path: string) => (await app.request(`/api/v1/log/${path}`)).text()
    const name = 'fluent-bit-logs/app'
    /** The lines inside what Fluent Bit wrapped. */
    const shipped = async () => {
      const text = await ask(`view?file=${name}&size=100000000`)
      return text
        .split('\n')
        .filter(Boolean)
        .map((line) => (line.startsWith('{"type"') ? null : (JSON.parse(line).log as string)))
    }
    // Twice: objects that come later are added to those that are known.
    for (let round = 1; round <= 2; round++) {
      write(200)
      await expect
        .poll(async () => (await shipped()).length, { timeout: 60_000, interval: 1000, message: said })
        .toBe(lines.length)
      expect(await shipped()).toEqual(lines)
    }
    expect(JSON.parse(await ask('list')).map((entry: { name: string }) => entry.name)).toEqual([name])
    const errors = (await ask(`view?file=${name}&level=error&format=ndjson`)).split('\n').filter(Boolean)
    expect(errors.length).toBe(lines.length / 10)
  })
})
