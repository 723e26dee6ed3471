import type { Reporter, TestCase } from 'vitest/node'

/** Names each test that failed first and passed at its second try, with its first error. */
export default class SecondTries implements Reporter {
  readonly #found: TestCase[] = []

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky) this.#found.push(test)
  }

  onTestRunEnd(): void {
    for (const test of this.#found) {
      console.log(`\n Passed at the second try: ${test.module.relativeModuleId} > ${test.fullName}`)
      for (const { message } of test.result().errors ?? []) console.log(`   ${message}`)
    }
  }
}
