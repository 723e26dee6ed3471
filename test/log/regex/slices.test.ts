import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Dfa } from '../../../src/log/regex/dfa.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const MIB = 1024 * 1024

/** A unit again and again, as many bytes as fit. */
function filled(unit: Uint8Array, size: number): Uint8Array {
  const out = new Uint8Array(size - (size % unit.length))
  for (let at = 0; at < out.length; at += unit.length) out.set(unit, at)
  return out
}

const TEXTS: Record<string, Uint8Array> = {
  ASCII: bytes('a line of a log, '),
  Latin: bytes('é'),
  Cyrillic: bytes('Ошибок нет, '),
  CJK: bytes('日本語'),
  emoji: bytes('😀👩‍💻'),
  'invalid UTF-8': Uint8Array.of(0xff, 0x80, 0xe6, 0x97, 0x41),
  'UTF-8 that ends early': Uint8Array.of(0xf0, 0x9f, 0x98),
  'line ends': bytes('\r\n\r'),
}
const PATTERNS = ['q!q', '(?i)ошибка!', '\\pL{3}!', '^\\p{Han}+#$', '(?i)STRASSE\\b', '[^a]{40}z!', '.*.*x!y']

describe('a long text', () => {
  it.each(Object.entries(TEXTS))('of %s is searched in short steps', (_name, unit) => {
    for (const size of [MIB, 3 * MIB + 17])
      for (const pattern of PATTERNS) {
        const text = filled(unit, size)
        const dfa = new Dfa(pattern)
        const search = dfa.inSteps(text, 0, text.length)
        let turns = 1
        let most = 0
        for (let before = dfa.steps; !search.next().done; before = dfa.steps) {
          turns++
          most = Math.max(most, dfa.steps - before)
        }
        expect(turns, pattern).toBeGreaterThanOrEqual(Math.floor(text.length / (64 * 1024)))
        expect(most, pattern).toBeLessThan(3e6)
      }
  })

  it('takes no more steps at once where a pattern defeats the table', () => {
    const text = bytes(Array.from({ length: 60_000 }, (_, i) => 'ab'[((i * i) % 7) & 1]).join(''))
    for (const pattern of ['a.{900}z', '(\\w|\\W){500}z', '(?i)\\pL{300}!']) {
      const dfa = new Dfa(pattern)
      const search = dfa.inSteps(text, 0, text.length)
      let most = 0
      try {
        for (let before = dfa.steps; !search.next().done; before = dfa.steps)
          most = Math.max(most, dfa.steps - before)
      } catch (error) {
        expect(error).toMatchObject({ code: 'bad-pattern' })
      }
      expect(most, pattern).toBeLessThan(2e7)
    }
  })

  it('property: matches what the native engine matches, wherever it is cut', () => {
    const unit = fc.constantFrom(
      ...['a', 'b', 'é', '日', '😀', '\n', '\r\n', '\r', ' ', '_'].map((char) => [...bytes(char)]),
      ...[[0xff], [0x80], [0xe6, 0x97], [0xf0, 0x9f, 0x98], [0xc3]],
    )
    const units = fc.array(unit, { minLength: 1, maxLength: 12 })
    const pattern = fc.constantFrom(
      ...[
        'a.b',
        '^b$',
        'é\\b',
        '\\Ba',
        '日.?😀',
        '\ufffd{2}a',
        'b\\s*$',
        '^\ufffd',
        '(?:a|日)+é',
        '[^b]{3}b',
      ],
    )
    fc.assert(
      fc.property(
        pattern,
        units,
        fc.integer({ min: -14, max: 4 }),
        fc.boolean(),
        (source, list, shift, isLarge) => {
          // The branch that never matches makes the program large, and its slices as short as they get.
          const dfa = new Dfa(isLarge ? `(?:${source})|${'#{1000}'.repeat(4)}` : source)
          const pad = '.\n'.repeat(3 * 64 * 1024).slice(0, (isLarge ? 3 * 512 : 2 * 64 * 1024) + shift)
          const tail = Uint8Array.from([...list.flat(), ...bytes('x'.repeat(700))])
          const text = new Uint8Array([...bytes(pad), ...tail])
          const shown = pad + readAsRecord(tail)
          expect(dfa.test(text, 0, text.length)).toBe(new RegExp(source, 'mu').test(shown))
        },
      ),
      { numRuns: 300 },
    )
  })

  it('has the same line ends wherever it is cut', () => {
    for (const first of [0x2e, 0xff])
      for (let shift = -5; shift <= 2; shift++) {
        const text = new Uint8Array([first, ...bytes(`${'.'.repeat(128 * 1024 + shift)}a\r\nb\rc`)])
        expect(new Dfa('a$').test(text, 0, text.length)).toBe(true)
        expect(new Dfa('b$').test(text, 0, text.length)).toBe(false)
        expect(new Dfa('a\\nb\\rc').test(text, 0, text.length)).toBe(true)
      }
  })

  it('can be tested while another is', () => {
    const dfa = new Dfa('é$\\n!')
    const long = new Uint8Array([...filled(bytes('日é'), 300_000), ...bytes('é\n!')])
    const [first, second] = [dfa.inSteps(long, 0, long.length), dfa.inSteps(long, 0, long.length - 1)]
    const found: unknown[] = [undefined, undefined]
    for (let i = 0; found.includes(undefined); i++) {
      expect(dfa.test(bytes('日'), 0, 3)).toBe(false)
      found[i % 2] ??= [first, second][i % 2]!.next().value
    }
    expect(found).toEqual([true, false])
  })
})

/** Every byte that is not part of a character as U+FFFD, without the CRs of line ends. */
function readAsRecord(text: Uint8Array): string {
  let shown = ''
  for (let at = 0; at < text.length; ) {
    const size = [1, 2, 3, 4].find((size) => isCharacter(text.subarray(at, at + size), size)) ?? 0
    shown += size === 0 ? '\ufffd' : new TextDecoder().decode(text.subarray(at, at + size))
    at += Math.max(1, size)
  }
  // To the native engine, a CR ends a line by itself; to RE2 it is a blank like a tab.
  return shown.replace(/\r(?=\n)|\r$/g, '').replaceAll('\r', '\t')
}

function isCharacter(unit: Uint8Array, size: number): boolean {
  try {
    return (
      unit.length === size &&
      [...new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(unit)].length === 1
    )
  } catch {
    return false
  }
}
