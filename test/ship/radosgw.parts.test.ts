import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { s3Store } from '../../src/store/s3.ts'
import { cleanUp, launch, temporaryDirectory } from '../program.ts'
import { bucketWriter } from '../support/bucket.ts'
import { lacking } from '../support/parts.ts'
import { objectsOf, textOf } from './home.ts'

const ceph = process.env.NODESTATE_TEST_RADOSGW?.replace(/^.*AWS_ENDPOINT_URL=(\S+).*$/s, '$1')
const noCeph = ceph
  ? null
  : lacking('NODESTATE_TEST_RADOSGW does not name an endpoint: see test/support/radosgw.sh')

describe.skipIf(noCeph)(`on Ceph's radosgw${noCeph ? ` (${noCeph})` : ''}`, () => {
  afterEach(cleanUp)

  it('finds out once how to replace young text, and replaces it with each flush', async () => {
    const place = {
      endpoint: ceph ?? '',
      bucket: `young-${Date.now().toString(36)}`,
      accessKeyId: 'testkey',
      secretAccessKey: 'testsecret',
      region: 'default',
    }
    await bucketWriter(place).create()
    const logs = join(temporaryDirectory(), 'logs')
    const file = join(logs, 'broker.log')
    mkdirSync(logs)
    let written = 'line 0\n'
    writeFileSync(file, written)
    const args = ['ship', '--logs', logs, '--flush', '100ms', '--metrics-listen', '127.0.0.1:0']
    const running = launch([...args, `s3://${place.bucket}/db-1`], {
      env: {
        AWS_ENDPOINT_URL: place.endpoint,
        AWS_ACCESS_KEY_ID: place.accessKeyId,
        AWS_SECRET_ACCESS_KEY: place.secretAccessKey,
        AWS_REGION: place.region,
      },
    })
    const said = /http:\S+\/metrics/
    await expect.poll(running.stderr).toMatch(said)
    const scrape = async () => (await fetch(said.exec(running.stderr())![0])).text()
    for (let line = 1; line <= 5; line++) {
      await expect.poll(scrape).toContain(`nodestate_ship_shipped_bytes_total ${written.length}\n`)
      const objects = await objectsOf(s3Store({ ...place, prefix: 'db-1' }))
      expect(textOf(objects, 'broker.log')).toBe(written)
      appendFileSync(file, `line ${line}\n`)
      written += `line ${line}\n`
    }
    await expect.poll(scrape).toContain(`nodestate_ship_shipped_bytes_total ${written.length}\n`)
    // One is the start's question whether the storage knows conditions.
    expect(await scrape()).toContain('nodestate_ship_requests_total{op="put",status="412"} 2\n')
    running.child.kill('SIGTERM')
    expect(await running.exited).toBe(0)
    expect(running.stderr().trimEnd().split('\n')).toHaveLength(1)
    const objects = await objectsOf(s3Store({ ...place, prefix: 'db-1' }))
    expect(textOf(objects, 'broker.log')).toBe(written)
  })
})
