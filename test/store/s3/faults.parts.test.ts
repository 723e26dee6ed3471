import { afterAll, beforeAll, describe } from 'vitest'
import { bucketWriter } from '../../support/bucket.ts'
import { type Flare, placeOf, startMiniflare } from '../../support/miniflare.ts'
import { part } from '../../support/parts.ts'
import { faultSuite } from '../faults.ts'

const needs = (['miniflare', 'node', 'workerd'] as const).map((name) => part(name).missing).find(Boolean)

describe.skipIf(needs)(`Miniflare${needs ? ` (${needs})` : ''}`, () => {
  let flare: Flare
  beforeAll(async () => {
    flare = await startMiniflare()
  })
  afterAll(() => flare?.stop())

  faultSuite('S3, signed, on Miniflare', async () => {
    const writer = bucketWriter(placeOf(flare))
    const { bucket, accessKeyId, secretAccessKey } = flare
    return { endpoint: flare.s3, options: { bucket, accessKeyId, secretAccessKey }, put: writer.put }
  })
})
