import { type End, TAIL_BYTES } from '../segment/names.ts'
import { Stopped } from './bucket.ts'
import { type Identified, identify } from './identity.ts'
import { FileChanged, Life, type LifeContext } from './life.ts'
import { type LogFiles, seenAt } from './look.ts'
import { type Memory, recall, type Unfinished } from './memory.ts'
import type { FileText } from './text.ts'

/** What a log's shipper needs. */
export interface LogContext extends LifeContext {
  files: LogFiles
  /** How long a removed file is kept open while it waits. */
  holdMs: number
  report(message: string): void
  /** A life, or a file that never became one, is lost. */
  onLost(): void
}

/** The state of a log. */
export interface LogStatus {
  life: number
  size: number
  lagBytes: number
  lagSeconds: number
}

/** Ships one log: works out which file is which life, and ships them one after the other. */
export class LogShipper {
  readonly #context: LogContext
  #memory: Memory | null = null
  /** The current life, and older ones that received late lines. */
  #main: Life | null = null
  #late: Life[] = []
  /** Every unfinished life, with the file it was in. */
  readonly #lives = new Map<number, Life>()
  /** Whether a life without a file waits for a second check. */
  #uncertain = false
  /** Lives whose removed file was held long enough. Its inode may belong to another file now. */
  readonly #gaveUp = new Set<number>()
  #queue: FileText[] = []
  /** Files that were empty when the others were put in the queue. */
  #empty: FileText[] = []
  /** The files as they were when they were last assigned to lives. */
  #seen = ''
  /** The directory at that time. */
  #shown = ''
  /** Names and sizes at the last check: a rotated file is finished when two checks agree. */
  #lastLook = new Map<string, string>()
  #looks = 0
  /** The check at which a life was first found to be lost. */
  #missing = { look: '', looks: 0 }
  #reported = new Set<string>()

  constructor(context: LogContext) {
    this.#context = context
    context.files.bind((id) => [...this.#lives.values()].some(({ text }) => text.id === id))
  }

  get status(): LogStatus | null {
    const life = this.#main
    if (!life) {
      const last = Math.max(0, ...(this.#memory?.ends.keys() ?? []))
      const end = this.#memory?.ends.get(last)
      return end ? { life: last, size: end.size, lagBytes: 0, lagSeconds: 0 } : null
    }
    let lagBytes = 0
    let oldest: number | null = null
    for (const file of this.#context.files.files) {
      const isQueued = this.#queue.some((text) => text.id === file.id)
      if (file.id !== life.text.id && !isQueued) continue
      // Of an archive, the size on disk says nothing about its text.
      const shipped = isQueued || file.text.compressed ? 0 : life.shipped
      if (file.size <= shipped) continue
      lagBytes += file.size - shipped
      oldest ??= seenAt(file, shipped)
    }
    const lagSeconds = oldest === null ? 0 : Math.round((this.#context.now() - oldest) / 100) / 10
    return { life: life.number, size: life.shipped, lagBytes, lagSeconds }
  }

  /** One turn after a check; returns whether all is shipped. `everything`: the shipper is stopping, or ships once. */
  async turn(everything: () => boolean): Promise<boolean> {
    const look = new Map(this.#context.files.files.map((file) => [file.id, `${file.size} ${file.modified}`]))
    const before = this.#lastLook
    this.#lastLook = look
    const isNew = this.#context.files.looks > this.#looks
    this.#looks = this.#context.files.looks
    const isQuiet = (id: string) => isNew && look.has(id) && before.get(id) === look.get(id)
    const { released } = this.#context.files
    try {
      for (let steps = 0; steps < 1000; steps++) {
        await this.#tellApart()
        if (!(await this.#advance(everything, isQuiet))) break
      }
    } catch (error) {
      const isReleased = this.#context.files.released > released && !(error instanceof Stopped)
      if (!(error instanceof FileChanged) && !isReleased) throw error
      // Assigned again at the next check.
      this.#seen = ''
      return false
    }
    return this.#isAllShipped()
  }

  #isAllShipped(): boolean {
    if (this.#uncertain || this.#queue.length > 0 || this.#late.length > 0) return false
    const file = this.#context.files.files.find(({ id }) => id === this.#main?.text.id)
    return (
      !this.#main ||
      (file !== undefined && this.#isActive(this.#main.text) && this.#main.shipped >= file.size)
    )
  }

  /**
   * Gives up removed files that were held long enough: a full disk is worse than a gap. A turn may wait for the storage
   * meanwhile; it fails when it reads on.
   */
  async drop(): Promise<void> {
    const { files, holdMs, now, report, onLost } = this.#context
    for (const file of files.files) {
      if (file.gone === null || now() - file.gone < holdMs) continue
      report(`Gave up ${JSON.stringify(file.name)}, which was removed before it was shipped.`)
      const lives = [...this.#lives.values()].filter(({ text }) => text.id === file.id)
      for (const life of lives) this.#gaveUp.add(life.number)
      // A life is counted when it ends as lost.
      if (lives.length === 0) onLost()
      await files.release(file)
    }
  }

  /** Decides which file is which life, if files have appeared, disappeared or been renamed since. */
  async #tellApart(): Promise<void> {
    const { files, bucket, log, native } = this.#context
    const bound = new Set([this.#main, ...this.#late].map((life) => life?.text.id))
    const state = files.files
      .map((file) => `${file.name} ${file.id} ${bound.has(file.id) ? '' : file.size}`)
      .join('\n')
    if (this.#memory && state === this.#seen) return
    this.#memory ??= await recall(bucket, log)
    const memory = this.#memory
    for (const life of this.#lives.values()) {
      const at = memory.unfinished.findIndex((other) => other.life === life.number)
      if (at >= 0) memory.unfinished[at] = life.state
    }
    this.#shown = files.shown
    const found = await identify(
      files.files.map(({ text }) => text),
      memory.ends,
      memory.unfinished,
      { native, before: (life) => this.#lives.get(life)?.text.id },
    )
    for (const text of found.broken) this.#reportOnce(text)
    this.#uncertain = !(await this.#bind(found))
    this.#seen = ''
    if (this.#uncertain) return
    const now = new Set([this.#main, ...this.#late].map((life) => life?.text.id))
    this.#seen = files.files
      .map((file) => `${file.name} ${file.id} ${now.has(file.id) ? '' : file.size}`)
      .join('\n')
  }

  /** Assigns lives to files; false while a life without a file waits for a second check. */
  async #bind(found: Identified): Promise<boolean> {
    const { files } = this.#context
    const take = (text: FileText, state: Unfinished): Life => {
      const life = this.#lives.get(state.life) ?? new Life(this.#context, text, state)
      life.text = text
      this.#lives.set(state.life, life)
      return life
    }
    this.#late = found.late.map(({ text, end }) => take(text, behind(end)))
    if (found.lost.length > 0 && !(await this.#isReallyLost(found.lost))) {
      this.#main = null
      this.#queue = []
      return false
    }
    const going = found.going.map(({ text, life }) => take(text, life))
    this.#main = going.shift() ?? null
    // A crash may leave more than one life without an end: the next one is found when this one is finished.
    this.#queue = going.length > 0 ? [] : found.fresh
    this.#empty = found.empty
    const settled = files.files.filter(({ text }) => found.done.includes(text))
    await files.settle(settled)
    return true
  }

  /** A life without a file is lost when two checks agree and there is another file to continue with. */
  async #isReallyLost(lost: readonly Unfinished[]): Promise<boolean> {
    const { files, onLost, report } = this.#context
    const look =
      lost.map(({ life }) => life).join() + files.files.map(({ id, name }) => `\n${id} ${name}`).join()
    const again = this.#missing.look === look && this.#missing.looks < this.#looks
    if (this.#missing.look !== look) this.#missing = { look, looks: this.#looks }
    if (files.files.length === 0) return false
    if (!again) return false
    for (const state of lost) {
      const life = this.#lives.get(state.life)
      const isHere = ({ id, gone }: { id: string; gone: number | null }) =>
        id === life?.text.id && gone === null && !this.#gaveUp.has(state.life)
      const how = files.files.some(isHere) ? 'cut' : 'lost'
      const end = await (life ?? new Life(this.#context, files.files[0]!.text, state)).finish(how)
      this.#finished(end)
      if (how === 'cut') continue
      onLost()
      report(`Life ${state.life} of ${JSON.stringify(this.#context.log)} is lost: its file is gone.`)
    }
    return true
  }

  #finished(end: End): void {
    const memory = this.#memory!
    this.#lives.delete(end.life)
    this.#gaveUp.delete(end.life)
    memory.ends.set(end.life, end)
    memory.unfinished = memory.unfinished.filter(({ life }) => life !== end.life)
    memory.next = Math.max(memory.next, end.life + 1)
  }

  /** Ships what is due; returns whether a life was finished, so that the next one can start. */
  async #advance(everything: () => boolean, isQuiet: (id: string) => boolean): Promise<boolean> {
    for (const life of this.#late) {
      await life.ship(() => true)
      if (!(await this.#isOver(life, isQuiet))) continue
      this.#finished(await life.finish())
      return this.#again()
    }
    if (!this.#main) {
      const text = this.#queue.shift()
      if (!text) return false
      const life = await Life.begin(this.#context, text, this.#memory!.next, () => this.#isAsIdentified())
      this.#memory!.next = life.number + 1
      this.#memory!.unfinished.push(life.state)
      this.#lives.set(life.number, life)
      this.#main = life
    }
    const life = this.#main
    await life.watch()
    await life.ship(() => everything() || !this.#isActive(life.text))
    if (this.#isActive(life.text) || !(await this.#isOver(life, isQuiet))) return false
    this.#finished(await life.finish())
    this.#main = null
    return this.#again()
  }

  /** Whether the directory is as it was when lives were assigned, and no copy has been made in it since. */
  async #isAsIdentified(): Promise<boolean> {
    for (const text of this.#empty) if ((await text.size()) > 0) return false
    return this.#context.files.shows(this.#shown)
  }

  #again(): boolean {
    this.#seen = ''
    return true
  }

  /** The active file is the newest one, and neither compressed nor removed. */
  #isActive(text: FileText): boolean {
    const newest = this.#context.files.files.at(-1)
    return newest?.id === text.id && newest.gone === null && !text.compressed
  }

  /** Whether two checks agree on a file and all of it is shipped. */
  async #isOver(life: Life, isQuiet: (id: string) => boolean): Promise<boolean> {
    return isQuiet(life.text.id) && (await life.text.size()) === life.shipped
  }

  #reportOnce(text: FileText): void {
    if (this.#reported.has(text.id)) return
    this.#reported.add(text.id)
    this.#context.report(`Cannot read the archive ${JSON.stringify(text.name)}: it is left alone.`)
  }
}

/** A finished life whose file continues past its end. */
function behind({ life, size, crc }: End): Unfinished {
  return { life, from: size, shipped: size, claim: { from: Math.max(0, size - TAIL_BYTES), to: size, crc } }
}
