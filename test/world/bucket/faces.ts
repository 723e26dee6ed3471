import { createHash } from 'node:crypto'
import type { Clock } from '../../../src/kit/limits/clock.ts'
import type { Bucket as ShipBucket } from '../../../src/ship/bucket.ts'
import { s3Bucket } from '../../../src/ship/s3.ts'
import type { RetryOptions } from '../../../src/store/remote/retry.ts'
import { s3Store } from '../../../src/store/s3.ts'
import type { Store } from '../../../src/store/store.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { Random } from '../kernel/random.ts'
import type { Bucket } from './bucket.ts'

/** Who reaches the bucket, and with what. */
export interface Client {
  clock: Clock
  fetch: (url: string, init: RequestInit) => Promise<Response>
  who: string
}

/** A client that nothing but the bucket can stop. */
export function clientOf(kernel: Kernel, bucket: Bucket, who: string): Client {
  return { clock: kernel, fetch: bucket.fetchAs(who), who }
}

/** Nothing is signed: that would need a digest which no seed decides. */
function wiring({ clock, fetch, who }: Client) {
  const random = new Random(`retries of ${who}`)
  return { bucket: 'world', endpoint: 'http://bucket', fetch, clock, random: () => random.fraction() }
}

/** The bucket as a store, with the product's own retries. */
export function bucketStore(
  kernel: Kernel,
  bucket: Bucket,
  who: string,
  options: RetryOptions & { prefix?: string; wholeUpTo?: number } = {},
): Store {
  return s3Store({ ...wiring(clientOf(kernel, bucket, who)), ...options })
}

/** The bucket as a shipper sees it. It does not retry by itself: the shipper does. */
export function shipBucket(client: Client, prefix = ''): ShipBucket {
  const sha256 = async (bytes: Uint8Array) => {
    const digest = createHash('sha256').update(bytes).digest()
    return digest.buffer.slice(digest.byteOffset, digest.byteOffset + digest.length) as ArrayBuffer
  }
  return s3Bucket({ ...wiring(client), prefix, sha256 })
}
