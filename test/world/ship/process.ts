import type { Clock } from '../../../src/kit/limits/clock.ts'
import type { Bucket as ShipBucket } from '../../../src/ship/bucket.ts'
import type { DiskFile, Disk as ShipDisk } from '../../../src/ship/files/disk.ts'
import { shipBucket } from '../bucket/faces.ts'
import { shipDisk } from '../disk/ship.ts'
import type { World } from '../world.ts'

/**
 * What a process has of the world: a clock, the disk and the bucket. When it is killed, its timers are gone, its files
 * are closed, and none of its calls is ever answered: whatever it awaited, it does nothing more. A request that was sent
 * may still arrive.
 */
export class Process {
  readonly pid: number
  readonly clock: Clock
  readonly disk: ShipDisk
  readonly bucket: ShipBucket
  isAlive = true
  readonly #timers = new Set<() => void>()
  readonly #files = new Set<DiskFile>()
  readonly #requests = new Set<AbortController>()

  constructor(world: World, pid: number, home: string) {
    const { kernel, random, plan } = world
    const who = `process ${pid}`
    this.pid = pid
    this.clock = {
      now: () => kernel.now(),
      elapsed: () => kernel.elapsed(),
      after: (ms, then) => this.#after(world, ms, then),
    }
    this.disk = this.#diskOf(shipDisk(kernel, world.disk, random.split(who), plan.settings.slowest))
    const send = world.bucket.fetchAs(who)
    // A body that ends because the process is killed must not wake it for another request.
    const fetch = (url: string, init: RequestInit) =>
      this.isAlive
        ? this.#whileAlive(send(url, { ...init, signal: this.#until(init.signal) }))
        : new Promise<never>(() => {})
    this.bucket = shipBucket({ clock: this.clock, fetch, who }, home)
  }

  /** A call of the system, which is not answered any more once the process is dead. */
  call<T>(world: World, label: string, answer: () => T): Promise<T> {
    return this.#whileAlive(world.kernel.call(label, 0.1, answer))
  }

  kill(): void {
    this.isAlive = false
    for (const cancel of this.#timers) cancel()
    for (const file of this.#files) void file.close()
    for (const request of this.#requests) request.abort(new Error('killed'))
  }

  #after(world: World, ms: number, then: () => void): () => void {
    if (!this.isAlive) return () => {}
    const cancel = world.kernel.after(ms, () => {
      this.#timers.delete(cancel)
      then()
    })
    this.#timers.add(cancel)
    return () => {
      this.#timers.delete(cancel)
      cancel()
    }
  }

  #whileAlive<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      work.then(
        (done) => this.isAlive && resolve(done),
        (error: unknown) => this.isAlive && reject(error),
      )
    })
  }

  /** A signal that aborts with another one, or with the process. */
  #until(signal: AbortSignal | null | undefined): AbortSignal {
    const request = new AbortController()
    this.#requests.add(request)
    const abort = () => request.abort(signal?.reason)
    if (signal?.aborted) abort()
    else signal?.addEventListener('abort', abort, { once: true })
    return request.signal
  }

  #diskOf(disk: ShipDisk): ShipDisk {
    return {
      left: disk.left,
      skipped: disk.skipped,
      list: () => this.#whileAlive(disk.list()),
      open: (name) =>
        this.#whileAlive(
          disk.open(name).then((file) => {
            if (file === null || this.isAlive) return file && this.#fileOf(file)
            void file.close()
            return null
          }),
        ),
    }
  }

  #fileOf(file: DiskFile): DiskFile {
    this.#files.add(file)
    const whileAlive = <T>(work: Promise<T>) => this.#whileAlive(work)
    return {
      id: file.id,
      stat: () => whileAlive(file.stat()),
      read: (...asked) => whileAlive(file.read(...asked)),
      async *inflate(kind) {
        for await (const piece of file.inflate(kind)) yield await whileAlive(Promise.resolve(piece))
      },
      close: () => {
        this.#files.delete(file)
        return whileAlive(file.close())
      },
    }
  }
}
