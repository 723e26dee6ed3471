import { keyTests, nowhereTest, statTests } from './contract/keys.ts'
import { listTests } from './contract/list.ts'
import { conditionTests, readTests } from './contract/read.ts'
import { type StoreExceptions, type StoreSubject, suiteOf, type TestNamespace } from './contract/suite.ts'

export type { StoreExceptions, StoreSubject, TestNamespace } from './contract/suite.ts'

/**
 * The tests that every store passes. `test` is the namespace of `node:test` or `vitest`; `setup` opens the store under
 * test and says how to fill it; `exceptions` names what this kind of store cannot have, with the reason. docs/stores.md
 * has an example.
 */
export function storeContract(
  test: TestNamespace,
  name: string,
  setup: () => Promise<StoreSubject> | StoreSubject,
  exceptions: StoreExceptions = {},
): void {
  test.describe(`${name} keeps the store contract`, () => {
    const suite = suiteOf(test, setup, exceptions)
    suite.describe('list', () => listTests(suite))
    suite.describe('stat', () => statTests(suite))
    suite.describe('read', () => readTests(suite))
    suite.describe('conditions', () => conditionTests(suite))
    suite.describe('keys', () => keyTests(suite))
    nowhereTest(suite)
  })
}
