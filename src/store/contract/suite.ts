import type { Store } from '../store.ts'

/** A store under test, and how to fill it. */
export interface StoreSubject {
  store: Store
  /** Stores a file under a key, or replaces it. The next call of the store sees it. */
  put(key: string, bytes: Uint8Array<ArrayBuffer>): unknown
  /** Removes a file. */
  remove(key: string): unknown
  /** A store of the same kind whose directory, bucket or database does not exist. */
  nowhere?: Store | undefined
  /** Called after the last test. */
  close?(): unknown
}

/** What a kind of store cannot have, each with the reason in words. */
export interface StoreExceptions {
  /** Why there are no keys with a slash. */
  flat?: string | undefined
  /** Keys that cannot be stored there. */
  notKeys?: Record<string, string> | undefined
  /** Why a version can still be read by its etag after the file was replaced. */
  pinned?: string | undefined
  /** Why `nowhere` does not exist. */
  alwaysThere?: string | undefined
}

/** What a running test can do. */
interface TestContext {
  skip(reason?: string): unknown
}

type Hook = (body: () => Promise<void>) => unknown

/** The namespace of `node:test` or `vitest`, as far as it is used. */
export interface TestNamespace {
  describe(name: string, body: () => void): unknown
  it(name: string, body: (context: TestContext) => Promise<void>): unknown
  before?: Hook
  beforeAll?: Hook
  after?: Hook
  afterAll?: Hook
}

/** What the tests of the contract are made of. */
export type Suite = ReturnType<typeof suiteOf>

/** Starts the subject before the tests and closes it after them. */
export function suiteOf(
  test: TestNamespace,
  setup: () => Promise<StoreSubject> | StoreSubject,
  exceptions: StoreExceptions,
) {
  const { describe, it } = test
  const before = test.beforeAll ?? test.before
  const after = test.afterAll ?? test.after
  if (!describe || !it || !before || !after)
    throw new TypeError(
      'storeContract needs describe, it, before and after: give it the namespace of a test runner',
    )
  let subject: StoreSubject | undefined
  before(async () => {
    subject = await setup()
  })
  after(async () => {
    await subject?.close?.()
  })
  const started = () => {
    if (!subject) throw new Error('setup() did not give a store')
    return subject
  }
  return {
    describe,
    it,
    exceptions,
    /** The subject, while tests run. */
    subject: started,
    async put(key: string, content: Uint8Array<ArrayBuffer> | string) {
      await started().put(key, typeof content === 'string' ? new TextEncoder().encode(content) : content)
    },
  }
}
