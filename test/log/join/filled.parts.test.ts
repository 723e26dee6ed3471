import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { s3Store } from '../../../src/store/s3.ts'
import { createApp } from '../../support/app.ts'
import { bucketWriter } from '../../support/bucket.ts'
import { lacking } from '../../support/parts.ts'
import { KEYS, lineAt } from './bucket.ts'

const ceph = process.env.NODESTATE_TEST_RADOSGW
const missing = ceph
  ? null
  : lacking('NODESTATE_TEST_RADOSGW does not name an endpoint: see test/support/radosgw.sh')
const keys = {
  AWS_ACCESS_KEY_ID: 'testkey',
  AWS_SECRET_ACCESS_KEY: 'testsecret',
  AWS_DEFAULT_REGION: 'default',
}
const host = ceph?.replace(/^https?:\/\//, '').replace(/\/$/, '')

// rclone refuses to start where a bundle of certificates is named.
const { AWS_CA_BUNDLE: _, ...env } = process.env

/** How each tool copies a folder into a bucket. */
const TOOLS: Record<string, (folder: string, bucket: string) => string[]> = {
  aws: (folder, bucket) => [
    's3',
    'sync',
    folder,
    `s3://${bucket}/`,
    '--endpoint-url',
    ceph!,
    '--only-show-errors',
  ],
  rclone: (folder, bucket) => [
    ...['sync', folder, `:s3:${bucket}`, '--config', '/dev/null', '--s3-provider', 'Ceph', '--s3-env-auth'],
    ...['--s3-endpoint', ceph!, '--s3-no-check-bucket', '-q'],
  ],
  s3cmd: (folder, bucket) => [
    ...['-c', '/dev/null', '--no-ssl', '--host', host!, '--host-bucket', host!, '--region', 'default', '-q'],
    ...['--access_key', 'testkey', '--secret_key', 'testsecret', 'sync', `${folder}/`, `s3://${bucket}/`],
  ],
}

describe.skipIf(missing)(`a bucket that others filled${missing ? ` (${missing})` : ''}`, () => {
  let folder: string
  let joined = ''
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'nodestate-filled-'))
    const files: Record<string, string> = { 'broker.log': 'top\n', 'a/b c/ü.log': 'deep\n' }
    for (let i = 0; i < 5; i++) {
      const time = Date.UTC(2026, 10, 15, 10, i)
      files[KEYS['Fluent Bit']!('app', time, i)] = lineAt(time, `line ${i}`)
      joined += lineAt(time, `line ${i}`)
    }
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), text)
    }
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  for (const [tool, args] of Object.entries(TOOLS)) {
    const absent = spawnSync(tool, ['--version']).error ? lacking(`${tool} is not installed`) : null
    it.skipIf(absent)(`by ${tool} is read as it is${absent ? ` (${absent})` : ''}`, async () => {
      const bucket = `filled-${tool}-${Date.now().toString(36)}`
      const place = {
        endpoint: ceph!,
        bucket,
        accessKeyId: 'testkey',
        secretAccessKey: 'testsecret',
        region: 'default',
      }
      await bucketWriter(place).create()
      execFileSync(tool, args(folder, bucket), { env: { ...env, ...keys }, stdio: 'pipe' })
      const nested = createApp({ logs: s3Store({ ...place, nested: true }), config: '' })
      const names = async (app: typeof nested) =>
        (await (await app.request('/api/v1/log/list')).json()).map(({ name }: { name: string }) => name)
      expect(await names(nested)).toHaveLength(7)
      const deep = await nested.request(`/api/v1/log/view?file=${encodeURIComponent('a/b c/ü.log')}`)
      expect(await deep.text()).toBe('deep\n')
      const app = createApp({ logs: s3Store(place), config: '', join: true })
      expect(await names(app)).toEqual(['a/b c/ü.log', 'app', 'broker.log'])
      expect(await (await app.request('/api/v1/log/view?file=app')).text()).toBe(joined)
    })
  }
})
