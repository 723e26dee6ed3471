import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { livesOf, objectsIn } from './home.ts'
import { until, useLocal } from './local.ts'

const local = useLocal()
const lives = () => livesOf(objectsIn(local.home), 'app.log')
const logs = () => readdirSync(join(local.home, 'segments'))
const texts = () => lives().map(({ text }) => text?.toString())
const shipped = () => texts().join('')

interface Kind {
  /** What each file begins with. */
  begin: string
  lineOf: (count: number) => string
  rotated: (number: number) => string
}

const dotted = (number: number) => `app.log.${number}`
const dashed = (number: number) => `app-${number}.log`

/**
 * A log that is rotated as Log4j 2 does by default: the newest rotated file has the highest number. At the maximum the
 * oldest is removed, and the others move down.
 */
class Log4jLog {
  /** What was written to each file, oldest first. */
  readonly files: string[] = []
  readonly #begin: string
  #count = 0
  readonly #lineOf: (count: number) => string
  readonly #rotated: (number: number) => string

  constructor({ begin = '', lineOf = timed, rotated = dotted }: Partial<Kind> = {}) {
    this.#begin = begin
    this.#lineOf = lineOf
    this.#rotated = rotated
  }

  write(lines: number): void {
    const isNew = !existsSync(this.at('app.log'))
    const text =
      (isNew ? this.#begin : '') + Array.from({ length: lines }, () => this.#lineOf(this.#count++)).join('')
    if (isNew) this.files.push('')
    this.files[this.files.length - 1] += text
    appendFileSync(this.at('app.log'), text)
  }

  rotate(most = 1000): void {
    let next = 1
    while (this.#nameOf(next)) next++
    if (next > most) {
      unlinkSync(this.at(this.#nameOf(1)!))
      for (let number = 2; number < next; number++) {
        const name = this.#nameOf(number)!
        const ending = name.endsWith('.gz') ? '.gz' : ''
        renameSync(this.at(name), this.at(this.#rotated(number - 1) + ending))
      }
      next--
    }
    renameSync(this.at('app.log'), this.at(this.#rotated(next)))
  }

  /** Compresses a rotated file now, as a new file. */
  compress(number: number): void {
    const path = this.at(this.#rotated(number))
    writeFileSync(`${path}.gz`, gzipSync(readFileSync(path)))
    unlinkSync(path)
  }

  at(name: string): string {
    return local.at(name)
  }

  #nameOf(number: number): string | undefined {
    const name = this.#rotated(number)
    return [name, `${name}.gz`].find((name) => existsSync(this.at(name)))
  }
}

function timed(count: number): string {
  const time = new Date(Date.UTC(2026, 10, 14, 2, 10, count)).toISOString().slice(0, 23).replace('T', ' ')
  return `${time} INFO [main] com.example.App - line ${count} ${'x'.repeat(40)}\n`
}

describe.each([
  ['after a dot', dotted],
  ['after a dash', dashed],
])('a shipper of files whose numbers rise %s', (_, rotated) => {
  it('numbers the lives of what it finds in the order in which they were written', async () => {
    const log = new Log4jLog({ rotated })
    for (let file = 0; file < 6; file++) {
      log.write(20)
      if (file < 5) log.rotate()
    }
    await local.once()
    expect(texts()).toEqual(log.files)
    expect(lives().map(({ ends }) => ends.map(({ how }) => how))).toEqual([
      ...Array.from({ length: 5 }, () => ['end']),
      [],
    ])
  })

  it('goes on after several rotations and late compression while it was down', async () => {
    const log = new Log4jLog({ rotated })
    for (let round = 0; round < 6; round++) {
      log.write(10)
      await local.once()
      log.write(5)
      for (let rotations = 0; rotations < round % 3; rotations++) {
        log.rotate()
        log.write(7)
      }
      if (round === 3) log.compress(1)
      if (round === 4) log.compress(3)
      if (round === 5) log.compress(2)
    }
    await local.once()
    expect(texts()).toEqual(log.files)
    expect(local.reports).toEqual([])
  })

  it.each([
    ['times that rise', {}],
    ['equal first lines', { begin: '2026-11-14 02:10:00.000 INFO [main] com.example.App - log opened\n' }],
    // The file of an unfinished life stays known while the shipper runs.
    ['no times', { lineOf: (count: number) => `line ${count} ${'x'.repeat(40)}\n` }],
  ])('follows a writer that removes the oldest at a maximum: %s', async (_, kind) => {
    const log = new Log4jLog({ ...kind, rotated })
    const running = local.shipper({ once: false })
    const done = running.run()
    for (let round = 0; round < 12; round++) {
      log.write(1 + ((round * 7) % 30))
      await until(() => shipped() === log.files.join(''))
      log.write(3)
      log.rotate(4)
      log.write(2)
      await until(() => shipped() === log.files.join(''))
      if (round % 4 === 2) log.compress(2)
    }
    running.stop()
    expect(await done).toBe('done')
    expect(await local.once()).toBe('done')
    expect(texts()).toEqual(log.files)
    expect(local.reports).toEqual([])
    expect(logs()).toEqual(['app.log'])
  })
})

it('ships logs with numbers after a dash under their own names if their times overlap', async () => {
  const text = (of: string) => [1, 2, 3].map((count) => timed(count).replace('line', of)).join('')
  for (const name of ['app.log', 'app-1.log', 'app-2.log']) writeFileSync(local.at(name), text(name))
  expect(await local.once()).toBe('done')
  expect(logs().sort()).toEqual(['app-1.log', 'app-2.log', 'app.log'])
})
