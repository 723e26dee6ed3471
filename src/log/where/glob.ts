/**
 * Tests values by a shell pattern, in linear time: `*` stands for any characters, `?` for one. It is the engine of
 * regular expressions that tests, because a value may be a message of 8 MiB. It is loaded with the first pattern.
 */
export async function globTest(glob: string): Promise<GlobTest> {
  const { Dfa } = await import('../regex/dfa.ts')
  const whole = new Dfa(`(?s)\\A${[...glob.replace(/\*+/g, '*')].map(expressionOf).join('')}\\z`)
  const encoder = new TextEncoder()
  return {
    test(value) {
      const bytes = encoder.encode(value)
      return whole.test(bytes, 0, bytes.length)
    },
    *inSteps(value) {
      const bytes = encoder.encode(value)
      yield
      return yield* whole.inSteps(bytes, 0, bytes.length)
    },
  }
}

/** Tests a value, at once or in steps of some milliseconds. */
export interface GlobTest {
  test(value: string): boolean
  inSteps(value: string): Generator<void, boolean>
}

function expressionOf(character: string): string {
  if (character === '*') return '.*'
  return character === '?' ? '.' : `\\x{${character.codePointAt(0)!.toString(16)}}`
}

/**
 * The longest text that a log must contain where a value matches, or null. `plain` finds characters that every
 * log writes as they are; a number may be written in another way, so digits alone do not count.
 */
export function literalIn(glob: string, plain: RegExp): string | null {
  const runs = (glob.match(plain) ?? []).filter((run) => /[^\d.e+-]/.test(run))
  return runs.length === 0 ? null : runs.reduce((a, b) => (b.length > a.length ? b : a))
}
