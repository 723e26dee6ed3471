import * as vitest from 'vitest'
import { describe, expect, it } from 'vitest'
import { persistent } from '../../../src/ship/bucket.ts'
import { storeContract } from '../../../src/store/contract.ts'
import { drivenKernel } from '../driven.ts'
import { Random } from '../kernel/random.ts'
import { BUCKET_FAULTS, Bucket } from './bucket.ts'
import { bucketStore, clientOf, shipBucket } from './faces.ts'

/** A bucket in trouble keeps the contract, too: the store tries again. */
for (const part of [0, 0.15])
  storeContract(vitest, `the world's bucket, with trouble in ${part * 100} % of the requests,`, () => {
    const { kernel, stop } = drivenKernel('contract')
    const make = () => {
      const bucket = new Bucket(kernel, new Random('bucket'))
      bucket.pageSize = 600
      bucket.now = () => Date.now()
      if (part > 0) bucket.troubles.add({ kinds: BUCKET_FAULTS, part })
      return bucket
    }
    const bucket = make()
    const gone = make()
    gone.exists = false
    const patient = { retries: 20, deadline: 1e9, listDeadline: 1e9, wholeUpTo: 100 }
    return {
      store: bucketStore(kernel, bucket, 'app', patient),
      nowhere: bucketStore(kernel, gone, 'app', patient),
      put: (key, bytes) => bucket.put(key, bytes),
      remove: (key) => bucket.delete(key),
      close: stop,
    }
  })

describe("the world's bucket, as a shipper sees it", () => {
  it('has what was put, once, whatever went wrong on the way', async () => {
    const { kernel, stop } = drivenKernel('ship')
    const bucket = new Bucket(kernel, new Random('bucket'))
    bucket.troubles.add({ kinds: BUCKET_FAULTS, part: 0.3 })
    const failures: unknown[] = []
    const shipped = persistent(shipBucket(clientOf(kernel, bucket, 'ship'), 'home'), {
      random: () => 0.5,
      sleep: (ms) => kernel.sleep(ms),
      givesUp: () => false,
      isFatal: () => false,
      onFailure: (error) => void (error && failures.push(error)),
    })
    const bytes = (text: string) => new TextEncoder().encode(text)
    const firsts: (string | false)[] = []
    for (let i = 0; i < 40; i++) {
      firsts.push(await shipped.put(`logs/a-${i}`, bytes(`first ${i}`), { once: true }))
      expect(await shipped.put(`logs/a-${i}`, bytes('second'), { once: true })).toBe(false)
      expect((await shipped.get(`logs/a-${i}`))?.bytes).toEqual(bytes(`first ${i}`))
    }
    expect(await shipped.names('logs/')).toHaveLength(40)
    expect(failures.length).toBeGreaterThan(10)
    // The answer to a write that succeeded was lost: the second try finds the object there.
    expect(firsts.filter((isFirst) => !isFirst).length).toBeGreaterThan(0)
    stop()
  })
})
