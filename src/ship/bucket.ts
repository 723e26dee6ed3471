/** Where a shipper writes. It never deletes, and reads only names, `ship.json` and the `~` of lives. */
export interface Bucket {
  /** The names directly in a folder, in order; those of folders end in a slash. */
  names(folder: string, limit?: number): Promise<string[]>
  /** An object, or its first bytes; null when there is none. */
  get(key: string, most?: number): Promise<StoredObject | null>
  /**
   * Writes an object, and gives its etag. With `once`, only if there is none; with `ifMatch`, only if it has this etag.
   * False says that it was not written.
   */
  put(key: string, bytes: Uint8Array<ArrayBuffer>, options?: PutOptions): Promise<string | false>
}

export interface StoredObject {
  bytes: Uint8Array<ArrayBuffer>
  etag: string
  /** How old it is in milliseconds, by the storage's clock. */
  age: number
}

export interface PutOptions {
  once?: boolean
  ifMatch?: string
}

/** Why a bucket cannot be used at all. Retrying does not help. */
export class UnusableBucket extends Error {
  override readonly name = 'UnusableBucket'
}

/** The work was abandoned because the shipper is stopping. */
export class Stopped extends Error {
  constructor() {
    super('The shipper stops')
    this.name = 'Stopped'
  }
}

export interface RetryContext {
  /** Settles as one try does; throws Stopped when that takes too long. @default waits however long it takes */
  inTime?<T>(work: Promise<T>): Promise<T>
  sleep(ms: number): Promise<void>
  random(): number
  /** Whether to give up; called after each failure. */
  givesUp(): boolean
  /** Whether a failure is not worth a retry. */
  isFatal(error: unknown): boolean
  /** Called with each failure, and with null when it is over. */
  onFailure(error: unknown | null): void
}

const SHORTEST_PAUSE = 200
const LONGEST_PAUSE = 30_000

/** A bucket that retries forever, with pauses from 0.2 to 30 seconds and jitter. Throws Stopped when it gives up. */
export function persistent(bucket: Bucket, context: RetryContext): Bucket {
  const inTime = context.inTime ?? ((work) => work)
  async function persist<T>(work: () => Promise<T>): Promise<T> {
    for (let failures = 0; ; failures++) {
      try {
        const done = await inTime(work())
        if (failures > 0) context.onFailure(null)
        return done
      } catch (error) {
        if (error instanceof Stopped || context.isFatal(error)) throw error
        context.onFailure(error)
        if (context.givesUp()) throw new Stopped()
        const most = Math.min(LONGEST_PAUSE, SHORTEST_PAUSE * 2 ** failures)
        await context.sleep(SHORTEST_PAUSE + context.random() * (most - SHORTEST_PAUSE))
        if (context.givesUp()) throw new Stopped()
      }
    }
  }
  return {
    names: (folder, limit) => persist(() => bucket.names(folder, limit)),
    get: (key, most) => persist(() => bucket.get(key, most)),
    put: (key, bytes, options) => persist(() => bucket.put(key, bytes, options)),
  }
}
