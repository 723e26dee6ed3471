import {
  appendFileSync,
  chmodSync,
  closeSync,
  linkSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  truncateSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { nodeDisk } from '../../../src/entry/ship/disk.ts'
import type { Disk as ShipDisk } from '../../../src/ship/files/disk.ts'
import { fastReads } from '../../../src/store/fast.ts'
import { fsStore } from '../../../src/store/fs.ts'
import { type Store, StoreError } from '../../../src/store/store.ts'
import { drivenKernel } from '../driven.ts'
import { Random } from '../kernel/random.ts'
import { Disk, type Handle } from './disk.ts'
import { shipDisk } from './ship.ts'
import { diskStore } from './store.ts'

const NAMES = ['a.log', 'a.log.1', 'a.log.2', 'b.log']
const isRoot = process.getuid?.() === 0
const { kernel, stop } = drivenKernel('model')
afterAll(stop)

/** The same change on the model and in a real directory; a change that the system refuses must be refused by both. */
class Pair {
  readonly disk = new Disk(() => Date.now())
  readonly path = mkdtempSync(join(tmpdir(), 'nodestate-model-'))
  readonly #open = new Map<number, { model: Handle; fd: number }>()
  #handles = 0

  at(name: string): string {
    return join(this.path, name)
  }

  /** One random change; returns what it was. */
  change(random: Random): string {
    const name = random.pick(NAMES)
    const other = random.pick(NAMES)
    const bytes = new TextEncoder().encode(`${random.below(1000)} some text\n`.repeat(random.small(1, 40)))
    const handle = this.#open.size > 0 ? random.pick([...this.#open.keys()]) : null
    const kinds = [
      'append',
      'rename',
      'link',
      'unlink',
      'truncate',
      'open',
      'write',
      'close',
      'deny',
    ] as const
    const kind = random.pick(kinds)
    const size = random.below(500)
    const isOpen = handle !== null ? this.#open.get(handle)! : null
    const both = (model: () => unknown, real: () => unknown) => expect(codeOf(model), kind).toBe(codeOf(real))
    if (kind === 'append')
      both(
        () => {
          const file = this.disk.openToWrite(name)
          file.append(bytes)
          file.close()
        },
        () => appendFileSync(this.at(name), bytes),
      )
    else if (kind === 'rename')
      both(
        () => this.disk.rename(name, other),
        () => renameSync(this.at(name), this.at(other)),
      )
    else if (kind === 'link')
      both(
        () => this.disk.link(name, other),
        () => linkSync(this.at(name), this.at(other)),
      )
    else if (kind === 'unlink')
      both(
        () => this.disk.unlink(name),
        () => unlinkSync(this.at(name)),
      )
    else if (kind === 'truncate' && this.disk.inodeOf(name)) {
      const file = this.disk.openToWrite(name)
      file.truncate(size)
      file.close()
      truncateSync(this.at(name), size)
    } else if (kind === 'open')
      this.#open.set(++this.#handles, {
        model: this.disk.openToWrite(name),
        fd: openSync(this.at(name), 'a'),
      })
    else if (kind === 'write' && isOpen) {
      isOpen.model.append(bytes)
      writeSync(isOpen.fd, bytes)
    } else if (kind === 'close' && isOpen) {
      isOpen.model.close()
      closeSync(isOpen.fd)
      this.#open.delete(handle!)
    } else if (kind === 'deny' && !isRoot && this.disk.inodeOf(name)) {
      const isReadable = random.chance(0.5)
      this.disk.allow(name, isReadable)
      chmodSync(this.at(name), isReadable ? 0o644 : 0o200)
    }
    return `${kind} ${name} ${other} ${size} ${handle}`
  }

  close(): void {
    for (const { fd } of this.#open.values()) closeSync(fd)
    rmSync(this.path, { recursive: true })
  }
}

function codeOf(work: () => unknown): string {
  try {
    work()
    return 'done'
  } catch (error) {
    return (error as { code: string }).code
  }
}

/** What a store says of everything: identities as the order in which they are first seen, because inodes differ. */
async function saidBy(store: Store, random: Random): Promise<unknown> {
  const ids = new Map<string, number>()
  const idOf = (id = '') => ids.get(id) ?? ids.set(id, ids.size).get(id)
  const range = random.pick([
    undefined,
    { suffix: random.below(600) },
    { offset: random.below(600), length: random.below(600) },
    { offset: random.below(600) },
  ])
  const said: unknown[] = []
  for await (const { key, size, id } of store.list('')) said.push([key, size, idOf(id)])
  for (const name of NAMES) {
    const outcome = await (async () => {
      const entry = await store.stat(name)
      const read = await store.read(name, range)
      const into = await fastReads(store)!.readInto(name, { suffix: 100 }, new Uint8Array(100), {})
      const text = read && (await new Response(read.body).text())
      const short = into && new TextDecoder().decode(into.body as Uint8Array)
      return [entry && [entry.size, idOf(entry.id)], read && [read.offset, read.length, text], short]
    })().catch((error) => (error instanceof StoreError ? error.code : String(error)))
    said.push([name, outcome])
  }
  return said
}

/** What the shipper's disk says of everything. */
async function shippedBy(disk: ShipDisk): Promise<unknown> {
  const ids = new Map<string, number>()
  const idOf = (id: string) => ids.get(id) ?? ids.set(id, ids.size).get(id)
  const listed = ((await disk.list()) ?? []).sort((a, b) => (a.name < b.name ? -1 : 1))
  const said: unknown[] = listed.map(({ name, id, size }) => [name, idOf(id), size])
  for (const name of NAMES) {
    const file = await disk.open(name).catch((error) => (error as Error).name)
    if (file === null || typeof file === 'string') {
      said.push([name, file])
      continue
    }
    const bytes = await file.read(10, 300)
    said.push([name, idOf(file.id), (await file.stat()).size, new TextDecoder().decode(bytes)])
    await file.close()
  }
  return said
}

describe("the world's disk", () => {
  it.each(Array.from({ length: 20 }, (_, i) => i))('is as a real directory in history %i', async (seed) => {
    const pair = new Pair()
    const random = new Random(`model ${seed}`)
    try {
      const options = { slice: random.pick([50, 100_000]), isFast: true, isWatched: false, slowest: 1 }
      const model = diskStore(kernel, pair.disk, random.split('store'), options)
      const real = fsStore(pair.path)
      const modelShip = shipDisk(kernel, pair.disk, random.split('ship'), 1)
      const realShip = nodeDisk(pair.path, () => {})
      const history: string[] = []
      for (let step = 0; step < 60; step++) {
        history.push(pair.change(random.split(`change ${step}`)))
        const ask = `ask ${step}`
        expect(await saidBy(model, random.split(ask)), history.join('\n')).toEqual(
          await saidBy(real, random.split(ask)),
        )
        if (step % 5 === 0)
          expect(await shippedBy(modelShip), history.join('\n')).toEqual(await shippedBy(realShip))
      }
      expect(pair.disk.handles, 'files that are open').toBeLessThan(60)
    } finally {
      pair.close()
    }
  })
})
