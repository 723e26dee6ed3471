import { appendFileSync, mkdtempSync, rmSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nodeDisk } from '../../../src/entry/ship/disk.ts'
import type { Disk } from '../../../src/ship/files/disk.ts'
import { fileOrder } from '../../../src/ship/files/order.ts'

let logs: string
beforeEach(() => {
  logs = mkdtempSync(join(tmpdir(), 'nodestate-order-'))
})
afterEach(() => rmSync(logs, { recursive: true, force: true }))

const at = (name: string) => join(logs, name)
const stamp = (minute: number) => new Date(Date.UTC(2026, 10, 14, 2, minute)).toISOString().slice(0, 23)
const line = (minute: number, text = 'x') => `${stamp(minute).replace('T', ' ')}\tINFO\ta.go:1\t${text}\n`

/** Writes a file whose first record is of a minute, and which was changed in another one. */
function put(name: string, text: string, changed = 0): void {
  writeFileSync(at(name), name.endsWith('.gz') ? gzipSync(text) : text)
  utimesSync(at(name), changed * 60, changed * 60)
}

async function sorted(disk: Disk = nodeDisk(logs, () => {})): Promise<string[]> {
  const files = await fileOrder(disk, 'app.log')((await disk.list())!)
  return files.map(({ name }) => name)
}

const FALLING = ['app.log.3', 'app.log.2', 'app.log.1', 'app.log']
const RISING = ['app.log.1', 'app.log.2', 'app.log.3', 'app.log']

describe('the order of a log’s files', () => {
  it.each([
    ['falls', FALLING],
    ['rises', RISING],
  ])('follows the times of the first records where the number %s', async (_, names) => {
    for (const [i, name] of names.entries()) put(name, line(i * 10), i * 10)
    expect(await sorted()).toEqual(names)
  })

  it.each([
    ['falling', FALLING],
    ['rising', RISING],
  ])('stays when a file with a %s number is compressed late', async (_, names) => {
    for (const [i, name] of names.entries()) put(name, line(i * 10), i * 10)
    for (const late of names.slice(0, 3)) {
      unlinkSync(at(late))
      put(`${late}.gz`, line(names.indexOf(late) * 10), 1000)
      const expected = names.map((name) => (name === late ? `${name}.gz` : name))
      expect(await sorted()).toEqual(expected)
      unlinkSync(at(`${late}.gz`))
      put(late, line(names.indexOf(late) * 10), names.indexOf(late) * 10)
    }
  })

  it('is that of the records after equal first lines', async () => {
    for (const [i, name] of RISING.entries()) put(name, `${line(0, 'log opened')}${line(i * 10)}`, i)
    expect(await sorted()).toEqual(RISING)
  })

  it('is not changed by a few files that begin at the same time', async () => {
    for (const [i, name] of RISING.entries()) put(name, line(i < 2 ? 0 : i * 10), i)
    expect(await sorted()).toEqual(RISING)
  })

  it.each([
    ['no times', () => 'a line\n'],
    ['the same times', () => line(0).repeat(100)],
    ['nothing in them', () => ''],
  ])('falls where files have %s, whenever they were changed', async (_, text) => {
    for (const [i, name] of RISING.entries()) put(name, text(), i * 10)
    expect(await sorted()).toEqual(FALLING)
  })

  it('stands a clock that steps back by an hour', async () => {
    const minutes = [10, 50, 5, 40]
    for (const [i, name] of FALLING.entries()) put(name, line(minutes[i]!), i * 55)
    expect(await sorted()).toEqual(FALLING)
    for (const name of FALLING) unlinkSync(at(name))
    for (const [i, name] of ['app.log.2', 'app.log.1', 'app.log'].entries())
      put(name, line([50, 5, 40][i]!), i * 55)
    expect(await sorted()).toEqual(['app.log.2', 'app.log.1', 'app.log'])
  })

  it('follows the records where the counter after a date falls', async () => {
    const names = ['app-2026-11-14.2.log', 'app-2026-11-14.1.log', 'app-2026-11-15.1.log']
    for (const [i, name] of names.entries()) put(name, line(i * 10), i)
    expect(await sorted()).toEqual(names)
  })

  it('follows the records of files that are named by weekdays', async () => {
    const names = ['app-Fri.log', 'app-Mon.log', 'app-Wed.log', 'app.log']
    for (const [i, name] of names.entries()) put(name, line(i * 3000), 100 - i)
    expect(await sorted()).toEqual(names)
  })

  it('is read from the names alone where they say it, and from each file once', async () => {
    const real = nodeDisk(logs, () => {})
    let opened = 0
    const disk: Disk = {
      ...real,
      open: (name) => {
        opened++
        return real.open(name)
      },
    }
    put('app-2026-11-14.log', line(10))
    put('app-2026-11-13.log', line(0))
    put('app.log', line(20))
    expect(await sorted(disk)).toEqual(['app-2026-11-13.log', 'app-2026-11-14.log', 'app.log'])
    expect(opened).toBe(0)
    rmSync(at('app-2026-11-13.log'))
    rmSync(at('app-2026-11-14.log'))
    for (const [i, name] of RISING.entries()) put(name, line(i * 10), i)
    const sort = fileOrder(disk, 'app.log')
    for (let check = 0; check < 3; check++) {
      appendFileSync(at('app.log'), line(50))
      await sort((await disk.list())!)
    }
    expect(opened).toBe(3)
  })

  it('is that of the others where an archive is broken', async () => {
    for (const [i, name] of RISING.entries()) put(name, line(i * 10), i)
    writeFileSync(at('app.log.4.gz'), 'broken')
    expect(await sorted()).toEqual(['app.log.1', 'app.log.2', 'app.log.3', 'app.log.4.gz', 'app.log'])
  })
})
