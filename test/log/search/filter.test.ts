import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { detectFormat, type LineFormat } from '../../../src/log/format/detect.ts'
import { ROLES } from '../../../src/log/format/json/keys.ts'
import { combined, textMatcher } from '../../../src/log/pattern/pattern.ts'
import { Marks } from '../../../src/log/scanner/marks.ts'
import { takeScanner } from '../../../src/log/scanner/scanner.ts'
import { type Filter, matches } from '../../../src/log/search/filter.ts'
import { UTC } from '../../../src/log/time.ts'
import { selectionOf } from '../context.ts'
import { FIXTURES, linesOf } from '../format/fixtures.ts'
import { linesLike, random, SAMPLES } from '../histogram/lines.ts'

const encoder = new TextEncoder()

/** The records that a filter wants, by reading every one and with a scanner; marks alone must find the same. */
function bothWays(filter: Filter, bytes: Uint8Array): [plain: number[], fast: number[]] {
  const chunk = { bytes, from: 0, to: bytes.length, base: 0 }
  const { shape: _, ...format } = filter.format
  const plain = Array.from(matches(chunk, filter))
  const scanner = takeScanner(bytes.length)!
  const found = Array.from(matches(chunk, filter, { scanner }))
  // What was learnt of these lines finds them from the first one on, where many are wanted.
  expect(Array.from(matches(chunk, filter, { scanner }))).toEqual(plain)
  expect(Array.from(matches(chunk, { ...filter, format }, { scanner }))).toEqual(plain)
  scanner.release()
  return [plain, found]
}

/** The records of a level. */
function ofLevel(format: LineFormat, level: number): Filter {
  return { format, zone: UTC, selection: selectionOf({ level }), since: null, until: null }
}

describe.each(FIXTURES)('$id', (fixture) => {
  const bytes = encoder.encode(linesOf(fixture).repeat(2))
  const format = detectFormat(bytes, undefined, { reference: Date.UTC(2026, 10, 16) })

  it('has the same records of a level, whether or not a scanner looks for marks', () => {
    for (const level of [2, 3, 4]) {
      const [plain, fast] = bothWays(ofLevel(format, level), bytes)
      expect(fast).toEqual(plain)
    }
  })

  it('has marks in every record of a level, each line alone, cut, with CRLF and with odd bytes', () => {
    const lines = linesOf(fixture).split('\n')
    const broken = fc.array(
      fc.tuple(
        fc.constantFrom(...lines),
        fc.nat(300),
        fc.constantFrom('\n', '\r\n', '\n', '\0\n', '\x1b[31m\n', '\n<3>'),
      ),
      { minLength: 1, maxLength: 12 },
    )
    fc.assert(
      fc.property(broken, fc.constantFrom(2, 3, 4), (parts, level) => {
        const all = encoder.encode(
          parts
            .map(
              ([line, cut, end]) =>
                (cut < 60 ? line.slice(cut) : cut < 120 ? line.slice(0, cut) : line) + end,
            )
            .join(''),
        )
        const [plain, fast] = bothWays(ofLevel(format, level), all)
        expect(fast).toEqual(plain)
      }),
      { numRuns: 20 },
    )
  })
})

describe.each(Object.entries(SAMPLES))('lines like those of %s', (name, { lines, isShaped }) => {
  const format = detectFormat(encoder.encode(`${lines.join('\n')}\n`), undefined, {
    reference: Date.UTC(2026, 10, 17),
  })

  it('has the same records of a level, whether or not a scanner knows how lines are written', () => {
    const any = random(name.length)
    for (let round = 0; round < (isShaped ? 24 : 4); round++) {
      const bytes = linesLike(lines, any, round % 4)
      const [plain, fast] = bothWays(ofLevel(format, 2 + any(3)), bytes)
      expect(fast, `round ${round}`).toEqual(plain)
    }
  })
})

test('property: records without a text are the same, whether or not a scanner finds the others', () => {
  const format = detectFormat(encoder.encode('2026-11-15 02:10:00.123\tINFO\ta.go:1\thi\n'.repeat(3)))
  const stamp = '2026-11-15 02:10:00.123\tINFO\ta.go:1\t'
  const line = fc.constantFrom(
    `${stamp}ab`,
    `${stamp}b`,
    'ab',
    '\tb',
    '',
    `${stamp}AB\r`,
    'b\0a',
    `${stamp}\xff`,
    'xab',
  )
  const texts = fc.array(fc.constantFrom('ab', 'b', 'AB', 'x', '\xff'), { minLength: 1, maxLength: 3 })
  fc.assert(
    fc.property(fc.array(line, { maxLength: 30 }), texts, fc.boolean(), (lines, not, isEnded) => {
      const matcher = combined([], not.map(textMatcher))
      const bytes = encoder.encode(lines.join('\n') + (isEnded ? '\n' : ''))
      const filter: Filter = {
        format,
        zone: UTC,
        selection: selectionOf({ matcher }),
        since: null,
        until: null,
      }
      const [plain, fast] = bothWays(filter, bytes)
      expect(fast).toEqual(plain)
    }),
    { numRuns: 500 },
  )
})

/** Lines that wrap others, each in ways of its own; `more` says how. */
const WRAPPED: [name: string, wrap: (text: string, more: number) => string][] = [
  [
    'CRI',
    (text, more) =>
      `2026-11-15T02:10:00.123456789Z stderr ${['F', 'P', 'F', 'F:x', 'P:y'][more % 5]} ${text}`,
  ],
  [
    'Docker',
    (text, more) => {
      const stamp = '"stream":"stderr","time":"2026-11-15T02:10:00.123456789Z"'
      const log = JSON.stringify(`${text}${more % 3 === 1 ? '' : '\n'}`)
      const odd = log.replace(
        /[ex/<]/g,
        (char) => [char, `\\u00${char.charCodeAt(0).toString(16)}`][more & 1]!,
      )
      if (more % 7 === 0) return `{${stamp},"log":${odd}}`
      if (more % 7 === 1) return `{"log": ${log.replaceAll('/', '\\/')} , ${stamp}}`
      return `{"log":${more % 7 === 2 ? odd : log},${stamp}}`
    },
  ],
  [
    'Fluent Bit',
    (text, more) => `{"date":1794708600.${100 + (more % 9)},"log":${JSON.stringify(text)},"x":"needle"}`,
  ],
]

test('a text is found in lines of CRI wherever their parts are cut', () => {
  const stamp = '2026-11-15T02:10:00.123456789Z stdout'
  const line = '2026-11-15 02:10:00,123 INFO [main] a.b.C - a Needle b'
  const others =
    `${stamp} P ${line.slice(0, 44)}\n${stamp} F nothing\n${stamp} F ${line.slice(0, 44)}\n`.repeat(2)
  const format = detectFormat(encoder.encode(others.repeat(9)))
  for (let first = 20; first <= line.length; first++)
    for (let second = first; second <= line.length; second++) {
      const parts = [line.slice(0, first), line.slice(first, second), line.slice(second)]
      const record = parts.map((part, i) => `${stamp} ${i < 2 ? 'P' : 'F'} ${part}\n`).join('')
      const selection = selectionOf({ matcher: textMatcher('needle') })
      const filter: Filter = { format, zone: UTC, selection, since: null, until: null }
      const [plain, fast] = bothWays(filter, encoder.encode(others + record + others))
      expect(fast).toEqual([others.length, others.length + record.length])
      expect(plain).toEqual(fast)
    }
})

test.each(WRAPPED)(
  'property: texts inside lines of %s are the same, whether or not a scanner finds them',
  (_, wrap) => {
    const inner = '2026-11-15 02:10:00,123 INFO  [main] a.b.C - '
    const format = detectFormat(encoder.encode(`${wrap(`${inner}hi`, 5)}\n`.repeat(3)))
    expect(format.wrap).toBeDefined()
    const part = fc.constantFrom(
      `${inner}needle`,
      `${inner}nee`,
      'dle',
      'NEEDLE',
      'x',
      '',
      `${inner}std`,
      'err',
      '\tat needle',
      `${inner}say "x" </nee`,
      `${inner}a\\n`,
      'b\\',
      `${inner}ERROR é\xff`,
      `${inner.replace('INFO ', 'ERROR')}x\ny`,
    )
    const line = fc.oneof(
      { weight: 6, arbitrary: fc.tuple(part, fc.nat(20)).map(([text, more]) => wrap(text, more)) },
      part,
    )
    const text = fc.constantFrom(
      ...[
        ...Array(8).fill('needle'),
        'stderr',
        'NEEDLE',
        'f x',
        '"x"',
        '</n',
        '\\',
        'x\ny',
        'le\nx',
        'é',
        '\ufffd',
        '\t',
        'log',
        '-',
      ],
    )
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 20, maxLength: 40 }),
        text,
        fc.boolean(),
        (lines, text, byLevel) => {
          const bytes = encoder.encode(lines.join('\n'))
          const matcher = byLevel ? null : textMatcher(text)
          const filter: Filter = {
            format,
            zone: UTC,
            selection: selectionOf({ level: byLevel ? 4 : null, matcher }),
            since: null,
            until: null,
          }
          const [plain, fast] = bothWays(filter, bytes)
          expect(fast).toEqual(plain)
        },
      ),
      { numRuns: 500 },
    )
  },
)

const inDocker = (line: string) =>
  `{"log":${JSON.stringify(`${line}\n`)},"stream":"stdout","time":"2026-11-15T02:10:00.123456789Z"}`

test("property: a text in Docker's JSON is found by its marks wherever reading every record finds it", () => {
  const format = detectFormat(
    encoder.encode(`${inDocker('2026-11-15 02:10:00.123 INFO started')}\n`.repeat(3)),
  )
  const part = fc.constantFrom(
    '"',
    '\\',
    '\n',
    '\t',
    '\r',
    'n',
    'e',
    'a',
    ':',
    'é',
    '\ufffd',
    '！',
    '{',
    '/',
    '\x01',
    'log',
  )
  const text = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''))
  const line = fc
    .tuple(
      text,
      text,
      fc.constantFrom(inDocker, inDocker, inDocker, (one: string) => one.replaceAll('\n', ' ')),
      fc.boolean(),
    )
    .map(([one, other, wrap, isRecord]) =>
      wrap(`${isRecord ? '2026-11-15 02:10:00.123 ERROR ' : ''}${one}${other}`),
    )
  fc.assert(
    fc.property(
      fc.array(line, { minLength: 1, maxLength: 12 }),
      fc.oneof(text, fc.constantFrom('"e"', 'a"', '"a', '\\"', 'e\ta', '":"')),
      fc.option(fc.tuple(fc.nat(), fc.constantFrom(0xff, 0xc3, 0x22, 0x5c)), { nil: null }),
      (lines, wanted, broken) => {
        const bytes = encoder.encode(`${lines.join('\n')}\n`)
        if (broken) bytes[broken[0] % bytes.length] = broken[1]
        const matcher = textMatcher(wanted)
        const selection = selectionOf({ matcher })
        const [plain, fast] = bothWays({ format, zone: UTC, selection, since: null, until: null }, bytes)
        expect(fast).toEqual(plain)
        const [read, found] = bothWays(ofLevel(format, 3), bytes)
        expect(found).toEqual(read)
      },
    ),
    { numRuns: 500 },
  )
})

test('every way to write a level in JSON has a mark', () => {
  const bytes = encoder.encode('{"time":"2026-11-15T02:10:00Z","level":"info","msg":"x"}\n'.repeat(3))
  const format = detectFormat(bytes)
  const values = ['error', 'ERR', 'Fatal', 'e', 'F', 'W', 'E2', '3', '0', '4', 'ОШИБКА', 'FEL', '注意']
    .map((word) => JSON.stringify(word))
    .concat([
      '0',
      '2',
      '3',
      '4',
      '04',
      '17',
      '13',
      '21',
      '24',
      '50',
      '60',
      '40',
      '400',
      '500',
      '700',
      '1000',
      '4321',
    ])
  const marks = [2, 3, 4].reduce<Marks[]>((all, level) => {
    all[level] = new Marks(format.marks!(level)!)
    return all
  }, [])
  const docker = detectFormat(
    encoder.encode(`${inDocker('{"time":"2026-11-15T02:10:00Z","level":"info","msg":"x"}')}\n`.repeat(3)),
  )
  expect(docker.name).toBe('docker, json')
  const wrapped = [2, 3, 4].reduce<Marks[]>((all, level) => {
    all[level] = new Marks(docker.marks!(level)!)
    return all
  }, [])
  for (const [key, role] of ROLES)
    for (const value of role === 'level' ? values : [])
      for (const colon of [':', ': ', ' : ', ':\t', ':  ']) {
        const [parent, inner] = key.split('.')
        for (const member of [
          `"${key}"${colon}${value}`,
          ...(inner ? [`"${parent}":{"${inner}"${colon}${value}}`] : []),
        ]) {
          const line = encoder.encode(`{"a":"b",${member},"time":"2026-11-15T02:10:00Z"}`)
          const level = format.level(line, 0, line.length)
          for (const wanted of [2, 3, 4]) {
            if (level < wanted) continue
            const isMarked = line.some((_, at) => marks[wanted]!.lastByte(line, at, line.length) >= 0)
            if (!isMarked) expect(`${member} ${wanted}`).toBe('marked')
            const whole = encoder.encode(inDocker(new TextDecoder().decode(line)))
            const isMarkedThere = whole.some(
              (_, at) => wrapped[wanted]!.lastByte(whole, at, whole.length) >= 0,
            )
            if (!isMarkedThere) expect(`${member} ${wanted} in Docker's`).toBe('marked')
          }
        }
      }
})
