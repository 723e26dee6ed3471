import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { apiText } from './support/api-docs.ts'

const source = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(join('src', name), 'utf8'))
  .join('\n')

/** Limits that the documents state in words, and where the code has them. Change both. docs/api.md has its pages with it. */
const LIMITS: [document: string, words: string, code: string[]][] = [
  ['docs/api.md', 'the result is cached for two seconds', ['const LOOK_MS = 2000']],
  ['docs/api.md', 'A list may be up to a second old', ['const MAX_AGE_MS = 1000']],
  [
    'docs/api.md',
    'The newest 400 files are examined, for at most five seconds',
    ['const MAX_FILES = 400', 'const MAX_MILLIS = 5000'],
  ],
  [
    'docs/api.md',
    'at most ten minutes before the newest one and it is among the newest 200',
    ['const LATE_MILLIS = 10 * 60_000', 'const MAX_RECENT = 200'],
  ],
  ['docs/api.md', 'as far as 12 requests can count them', ['const MAX_REQUESTS = 12']],
  [
    'docs/api.md',
    'A detailed list has at most 10,000 files',
    ['const MOST_DETAILED = 10_000', 'const MOST_LISTED = 100_000'],
  ],
  ['docs/reliability.md', '512 KiB each, 16 MiB together, then 16 KiB each', ['const SMALLEST = 16 * KIB']],
  ['docs/reliability.md', '`--memory` / 128 KiB clients at once', ['const CLIENT_BYTES = 128 * 1024']],
  ['docs/reliability.md', '7 MiB each, of the memory for answers', ['const ARCHIVE_SENT = 7 * 1024 * 1024']],
  ['docs/reliability.md', '10,000 values of a label', ['const MOST_VALUES = 10_000']],
  ['docs/api.md', 'with counts up to 1000', ['const MAX_COUNT = 1000']],
  ['docs/api.md', "the log's last 256 KiB do not have the field", ['const FIELD_SAMPLE = 256 * 1024']],
  ['docs/api.md', 'A record of more than 8 MiB is split', ['const MAX_RECORD = 8 * 1024 * 1024']],
  [
    'docs/api.md',
    'nests more than 200 levels, or has more than 10,000 keys or 100,000 array elements. Nor is JSON in a record of more than 4 MiB',
    [
      'const MAX_DEPTH = 200',
      'const MAX_KEYS = 10_000',
      'const MAX_ELEMENTS = 100_000',
      'const LONG = 4 * 1024 * 1024',
    ],
  ],
  ['docs/api.md', 'more than 64 MiB matched', ['answer: between(MIB, answers / 2, 64 * MIB)']],
  ['docs/api.md', 'A comment every 8 seconds', ['heartbeatMillis ?? 8_000']],
  ['docs/api.md', 'A Worker ends a follow after two minutes', ['followMillis: 120_000']],
  ['docs/api.md', 'At most 10,000 buckets', ['const MOST_BUCKETS = 10_000']],
  ['docs/api.md', 'fewer than 100 matching records', ['const LEAST_HITS = 100']],
  [
    'docs/api.md',
    'At most 10,000 records or 8 MiB are examined',
    ['const RECORDS = 10_000', 'const BYTES = 8 * 1024 * 1024'],
  ],
  ['docs/api.md', 'up to 200 fields', ['const FIELDS = 200']],
  ['docs/api.md', 'its ten most frequent values', ['const VALUES = 10\n']],
  ['docs/api.md', 'It has the 100 most frequent', ['const PATTERNS = 100\n']],
  ['docs/api.md', 'nested deeper than 32 levels', ['const MOST_LEVELS = 32']],
  ['docs/api.md', 'larger than 1 MiB', ['const LARGEST_HEARTBEAT = 1024 * 1024']],
  [
    'docs/api.md',
    'at most once in five seconds, and takes four seconds at most',
    ['const FRESH_MS = 5000', 'const PATIENCE_MS = 4000'],
  ],
  ['docs/rotation.md', 'the head of each file is read, at most 200', ['const MAX_HEADS = 200']],
  ['docs/rotation.md', 'has existed for more than a minute', ['const JUST_NOW = 60_000']],
  ['docs/rotation.md', 'more than an hour: that is a contradiction', ['const CLOCK_CHANGE_MS = 3_600_000']],
  [
    'docs/shipping.md',
    'with pauses from 0.2 to 30 s',
    ['const SHORTEST_PAUSE = 200', 'const LONGEST_PAUSE = 30_000'],
  ],
  ['docs/shipping.md', 'younger than 150 s', ['const ALIVE_MS = 150_000']],
  ['docs/shipping.md', 'one line a minute on stderr', ['const LINE_AGE_MS = 60_000']],
  ['docs/shipping.md', 'until they reach 256 KiB', ['const SMALLEST_SEGMENT = 256 * 1024']],
  ['docs/shipping.md', 'a heartbeat every 60 s', ['const BEAT_QUIET_MS = 60_000']],
  ['docs/shipping.md', 'a heartbeat every 30 s', ['const BEAT_BUSY_MS = 30_000']],
  ['docs/shipping.md', 'while ship.json is younger than 90 s', ['const HEARTBEAT_FRESH_MS = 90_000']],
]

it.each(LIMITS)('%s: %s', (document, words, code) => {
  expect(document === 'docs/api.md' ? apiText() : readFileSync(document, 'utf8')).toContain(words)
  for (const each of code) expect(source.includes(each), each).toBe(true)
})
