import type { End, How } from '../store/segment/names.ts'
import type { LeftFile, ShippedLog } from '../store/segment/ship-json.ts'
import { Stopped } from './bucket.ts'
import { Examiner } from './examiner.ts'
import { type FileText, noText } from './files/text.ts'
import { seenAt, type WatchedFile, type WatchedFiles } from './files/watched-files.ts'
import { FileChanged, Life, type LifeContext, Overtaken } from './life.ts'
import { type Copy, type Matched, match } from './match.ts'
import { type Memory, recall, type Shipped } from './memory.ts'

export interface LogContext extends Omit<LifeContext, 'isUntouched'> {
  files: WatchedFiles
  /** How long a removed file is kept open while it waits. */
  holdMs: number
  report(message: string): void
  /** Writes a heartbeat: readers learn from it about lives that are not in line. */
  announce(): Promise<void>
  /** A life, or a file that never became one, is lost. */
  onLost(): void
}

export interface LogStatus extends ShippedLog {
  /** Lives without an end. */
  open: number[]
}

/** A file that changed less than this ago may still be in the making. */
const SETTLED_MS = 10_000
const SETTLED_ONCE_MS = 2000
/** How many lives may wait for their end before another one begins. */
const MOST_GOING = 20
/** How long a turn compares files that are most likely shipped, while the active file waits. */
const PUT_OFF_MS = 500
/** How many lives one turn begins or finishes, at most. */
const STEPS = 1000

/**
 * Ships one log. A file is done when it is proven to be in the bucket: its bytes match the length and the checksum in
 * the name of every segment of a life, to its end. Everything else is shipped. The order of the files decides only in
 * which sequence.
 */
export class LogShipper {
  readonly #context: LogContext
  readonly #lifeContext: LifeContext
  readonly #examiner: Examiner
  #memory: Memory | null = null
  /** False after a write was given up: it may have arrived all the same, so the bucket must be read again. */
  #isRecalled = false
  /** Every unfinished life with a file, and finished ones that got late lines. */
  readonly #lives = new Map<number, Life>()
  #queue: WatchedFile[] = []
  #copies: readonly Copy[] = []
  /** Lives whose file is not found. */
  #lost: readonly number[] = []
  /** Lives whose removed file was held long enough. Its inode may belong to another file now. */
  readonly #gaveUp = new Set<number>()
  /** The files when they were last matched, and the sizes of all in the directory. */
  #seen: string | null = null
  #sizes: ReadonlyMap<string, number> = new Map()
  /** Names and sizes at the last check: a rotated file is finished when two checks agree. */
  #lastLook = new Map<string, string>()
  #looks = 0
  #isQuiet: (id: string) => boolean = () => false
  /** The check at which a life was first found to be lost. */
  #missing = { look: '', looks: 0 }

  constructor(context: LogContext) {
    this.#context = context
    this.#lifeContext = { ...context, isUntouched: (text, shipped) => this.#isUntouched(text, shipped) }
    this.#examiner = new Examiner(context)
  }

  get status(): LogStatus | null {
    const life = this.#going.at(-1)
    const open = [...(this.#memory?.open.keys() ?? [])]
    if (!life) {
      const last = Math.max(0, ...(this.#memory?.ends.keys() ?? []))
      const end = this.#memory?.ends.get(last)
      return end ? { life: last, size: end.size, lagBytes: 0, lagSeconds: 0, open } : null
    }
    const waiting = this.#waiting()
    const oldest = Math.min(...waiting.map(({ since }) => since))
    const lagSeconds = Number.isFinite(oldest)
      ? Math.round((this.#context.clock.elapsed() - oldest) / 100) / 10
      : 0
    const lagBytes = waiting.reduce((sum, { bytes }) => sum + bytes, 0)
    return { life: life.number, size: life.shipped, lagBytes, lagSeconds, open }
  }

  /** Files that are not or not completely in the bucket, and their bytes. */
  get waiting(): { files: number; bytes: number } {
    const waiting = this.#waiting()
    return { files: waiting.length, bytes: waiting.reduce((sum, { bytes }) => sum + bytes, 0) }
  }

  /** Files that cannot be shipped. An archive that changed a moment ago is perhaps being written. */
  left(everything: boolean): LeftFile[] {
    const broken = this.#examiner.broken.filter((file) => !this.#isInTheMaking(file, everything))
    return [
      ...this.#context.files.refused,
      ...broken.map(({ name }) => ({ name, reason: 'the archive is broken' })),
    ]
  }

  /** One turn after a check; returns whether all is shipped. `everything`: the shipper is stopping, or ships once. */
  async turn(everything: () => boolean): Promise<boolean> {
    const { files } = this.#context
    const look = new Map(files.files.map((file) => [file.id, `${file.size} ${file.modified}`]))
    const before = this.#lastLook
    const isNew = files.looks > this.#looks
    this.#lastLook = look
    this.#looks = files.looks
    this.#isQuiet = (id) => isNew && look.has(id) && before.get(id) === look.get(id)
    const { released } = files
    try {
      for (let steps = 0; steps < STEPS; steps++) {
        await this.#matchFilesToLives()
        if (!(await this.#advance(everything))) break
      }
      await this.#examinePutOff(everything)
    } catch (error) {
      if (error instanceof Stopped || error instanceof Overtaken) this.#isRecalled = false
      const isReleased = files.released > released && !(error instanceof Stopped)
      if (!(error instanceof FileChanged || error instanceof Overtaken) && !isReleased) throw error
      // Matched again at the next check.
      this.#seen = null
      return false
    }
    // Files that kept moving were not seen.
    return isNew && this.#isAllShipped(everything())
  }

  /** Gives up removed files that were held too long. Runs at every check, even while a turn waits for the storage. */
  async drop(): Promise<void> {
    const { files, clock, holdMs, onLost, report } = this.#context
    for (const file of files.files) {
      if (file.gone === null || clock.elapsed() - file.gone < holdMs) continue
      report(`Gave up ${JSON.stringify(file.name)}, which was removed before it was shipped.`)
      const lives = [...this.#lives.values()].filter(({ text }) => text.id === file.id)
      for (const life of lives) this.#gaveUp.add(life.number)
      // A life is counted when it ends as lost.
      if (lives.length === 0) onLost()
      await files.release(file)
    }
  }

  #waiting(): { bytes: number; since: number }[] {
    const { files, clock } = this.#context
    const lives = [...this.#lives.values()]
    const others = [...this.#copies.map(({ file }) => file), ...this.#examiner.broken]
    const isOther = new Set(others.map(({ id }) => id))
    return files.files.flatMap((file) => {
      if (file.size === 0 || isOther.has(file.id)) return []
      // Of an archive, the size on disk says nothing about its text.
      const life = file.text.compressed ? undefined : lives.find(({ text }) => text.id === file.id)
      const shipped = life?.shipped ?? 0
      if (file.size <= shipped) return []
      return [{ bytes: file.size - shipped, since: seenAt(file, shipped) ?? clock.elapsed() }]
    })
  }

  #isAllShipped(everything: boolean): boolean {
    const { files } = this.#context
    const isWaiting =
      this.#seen === null ||
      this.#queue.length > 0 ||
      this.#examiner.hasPutOff ||
      this.#examiner.broken.some((file) => this.#isInTheMaking(file, everything))
    if (isWaiting) return false
    if (!this.#copies.every(({ life, size }) => this.#lives.get(life)?.shipped === size)) return false
    return this.#going.every(({ text, shipped }) => {
      const file = files.files.find(({ id }) => id === text.id)
      return file !== undefined && files.isActive(file.id) && shipped >= file.size
    })
  }

  /** The files as far as they matter for matching, and how far the lives are that others may be copies of. */
  #stateNow(): string {
    const files = this.#context.files.files.map(
      ({ name, id, size, text }) => `${name} ${id} ${text.compressed ? size : size > 0}`,
    )
    return [...files, ...this.#copies.map(({ life }) => this.#lives.get(life)?.shipped)].join('\n')
  }

  /** Compares files with lives, if files have appeared, disappeared or been renamed since, or a copied life has grown. */
  async #matchFilesToLives(): Promise<void> {
    const { files, bucket, log } = this.#context
    if (this.#isRecalled && this.#stateNow() === this.#seen) return
    if (!this.#memory || !this.#isRecalled) {
      this.#memory = await recall(bucket, log)
      this.#lives.clear()
      this.#isRecalled = true
    }
    this.#rememberProgress()
    this.#sizes = files.sizes
    const bound = new Set([...this.#lives.values()].map(({ text }) => text.id))
    const examined = await this.#examiner.examineAll([...files.files], this.#memory, (id) => bound.has(id))
    const matched = await match(examined, {
      memory: this.#memory,
      examiner: this.#examiner,
      isActive: ({ id }) => files.isActive(id),
      hasProven: (life) => files.hasProven(life),
    })
    this.#seen = (await this.#bind(matched)) ? this.#stateNow() : null
  }

  /** Compares files that were put off: for a while, or all of them with `everything`. */
  async #examinePutOff(everything: () => boolean): Promise<void> {
    const { clock } = this.#context
    const begun = clock.elapsed()
    while (this.#examiner.hasPutOff && this.#seen !== null) {
      const examined = await this.#examiner.examineOne(this.#memory!)
      if (examined?.equals) await this.#context.files.prove(examined.file, examined.equals.life)
      // Its place in the queue, or as a life's file, is found with the others.
      else this.#seen = null
      if (!everything() && clock.elapsed() - begun > PUT_OFF_MS) return
    }
  }

  /** Assigns lives to files; false while a life without a file waits for a second check. */
  async #bind({ done, going, fresh, copies, lost }: Matched): Promise<boolean> {
    const { files } = this.#context
    for (const { file, life } of done) await files.prove(file, life)
    for (const { file, state } of going) {
      const life = this.#lives.get(state.life) ?? new Life(this.#lifeContext, file.text, state)
      life.text = file.text
      this.#lives.set(state.life, life)
      this.#memory!.open.set(state.life, life.state)
    }
    this.#copies = copies
    this.#lost = lost.map(({ life }) => life)
    this.#queue = []
    if (!(await this.#endLost(lost))) return false
    this.#queue = fresh
    return true
  }

  /**
   * Ends lives without a file. One with bytes is lost when two checks agree, every file was read, and there is another
   * file to continue with. False while that is not certain.
   */
  async #endLost(lost: readonly Shipped[]): Promise<boolean> {
    const { files, onLost, report, log } = this.#context
    const end = async (state: Shipped, how: How) => {
      const life = this.#lives.get(state.life) ?? new Life(this.#lifeContext, noText(log), state)
      // The file of a lost life may be closed: what is young is in the bucket.
      if (how !== 'cut') life.text = noText(log)
      const known = this.#memory!.ends.get(state.life)
      this.#finished(known?.size === state.size ? known : await life.finish(how))
    }
    for (const state of lost) if (state.size === 0) await end(state, 'end')
    const look =
      lost.map(({ life }) => life).join() + files.files.map(({ id, name }) => `\n${id} ${name}`).join()
    const again = this.#missing.look === look && this.#missing.looks < this.#looks
    if (this.#missing.look !== look) this.#missing = { look, looks: this.#looks }
    const withBytes = lost.filter(({ size }) => size > 0)
    // Without any file it may be a directory that is being moved or mounted: the life stays open.
    if (withBytes.length === 0 || files.sizes.size === 0) return true
    if (!again) return false
    if (this.#examiner.broken.length > 0 || files.refused.length > 0) return true
    for (const state of withBytes) {
      const id = this.#gaveUp.has(state.life) ? undefined : this.#lives.get(state.life)?.text.id
      const how = files.files.some((file) => file.id === id && file.gone === null) ? 'cut' : 'lost'
      await end(state, how)
      if (how === 'cut') continue
      onLost()
      report(`Life ${state.life} of ${JSON.stringify(log)} is lost: its file is gone.`)
    }
    return true
  }

  /** The lives that have a file, oldest first. */
  get #going(): Life[] {
    const lives = [...this.#lives.values()].filter(({ number }) => !this.#lost.includes(number))
    return lives.sort((a, b) => a.number - b.number)
  }

  #finished(end: End): void {
    this.#lives.delete(end.life)
    this.#gaveUp.delete(end.life)
    this.#memory!.ends.set(end.life, end)
    this.#memory!.open.delete(end.life)
  }

  /** Ships what is due; returns whether a life was begun or finished, so that the next one can start. */
  async #advance(everything: () => boolean): Promise<boolean> {
    const { files } = this.#context
    for (const life of this.#going) {
      const isActive = files.isActive(life.text.id)
      if (isActive) await life.watch()
      const isClosing = !isActive && (life.text.compressed || this.#isQuiet(life.text.id))
      await life.ship(() => everything() || !isActive, isClosing)
      if (isActive || !(await this.#isOver(life))) continue
      this.#finished(await life.finish())
      const file = files.files.find(({ id }) => id === life.text.id)
      if (file) await files.prove(file, life.number)
      this.#seen = null
      return true
    }
    return this.#beginNext(everything())
  }

  /** Begins the life of the oldest file that has none. */
  async #beginNext(everything: boolean): Promise<boolean> {
    const { files } = this.#context
    const memory = this.#memory!
    const file = this.#queue[0]
    if (this.#seen !== null && this.#seen !== this.#stateNow()) return true
    this.#rememberProgress()
    if (!file || this.#going.length >= MOST_GOING || this.#isBeingCopied(file, everything)) return false
    const original = await this.#originalOf(file)
    if (original) return this.#passOver(file, original)
    // A copy may have been finished since the check, and its original truncated. The log itself grows all the time.
    const mayBeCopy = !file.text.compressed && !files.isActive(file.id)
    const isGrown = mayBeCopy && (await file.text.size()) > file.size
    if (isGrown || !this.#examiner.isCurrent(file, memory)) {
      const now = await this.#examiner.examine(file, memory)
      // It may be something else, given what was shipped since.
      if (!now || now.equals || now.behind || now.holds.length > 0) {
        this.#seen = null
        return true
      }
    }
    const isNewer = ({ id }: FileText) => files.isNewer(id, file.id)
    const isLate =
      files.provenAfter(file.id).some((life) => life > 0) ||
      [...this.#lives.values()].some(({ number, text }) => number > 0 && isNewer(text))
    const life = await Life.begin(this.#lifeContext, file, isLate ? memory.nextOlder : memory.next)
    memory.next = Math.max(memory.next, life.number + 1)
    memory.nextOlder = Math.min(memory.nextOlder, life.number - 1)
    memory.open.set(life.number, life.state)
    this.#lives.set(life.number, life)
    this.#queue.shift()
    if (isLate) await this.#context.announce()
    return true
  }

  #rememberProgress(): void {
    const { open } = this.#memory!
    for (const life of this.#lives.values()) if (open.has(life.number)) open.set(life.number, life.state)
  }

  /** Whether a file may be a copy that is still being made. */
  #isBeingCopied(file: WatchedFile, everything: boolean): boolean {
    if (file.text.compressed || file.gone !== null || this.#context.files.isActive(file.id)) return false
    return this.#isInTheMaking(file, everything)
  }

  /** The active file, if a file is a copy of its beginning. On a full disk, a copy may wait for hours before it goes on. */
  async #originalOf(file: WatchedFile): Promise<WatchedFile | null> {
    const { files } = this.#context
    const active = files.files.find(({ id }) => id !== file.id && files.isActive(id))
    // A file that was renamed is older than the one that has its name now.
    if (!active || file.text.compressed || file.born < active.born || file.size > active.size) return null
    return (await this.#examiner.isBeginning(file.text, file.size, active.text)) ? active : null
  }

  /** An unfinished copy comes after its original, and is in the bucket as soon as that much of the original is. */
  async #passOver(file: WatchedFile, original: WatchedFile): Promise<boolean> {
    const life = this.#going.find(({ text }) => text.id === original.id)
    const isThere = life ? life.shipped >= file.size : this.#queue.some(({ id }) => id === original.id)
    if (!isThere) return false
    this.#queue.shift()
    if (life) await this.#context.files.prove(file, life.number)
    else this.#queue.push(file)
    return true
  }

  #isInTheMaking({ id, modified }: WatchedFile, everything: boolean): boolean {
    const age = Math.abs(this.#context.clock.now() - modified)
    return !this.#isQuiet(id) || age < (everything ? SETTLED_ONCE_MS : SETTLED_MS)
  }

  /**
   * Whether the active file cannot have been copied and truncated since the files were matched. A copy is a new file, or
   * one that has grown to what was shipped.
   */
  async #isUntouched({ id, compressed }: FileText, shipped: number): Promise<boolean> {
    const { files } = this.#context
    if (compressed || !files.isActive(id)) return true
    const lives = new Set([...this.#lives.values()].map(({ text }) => text.id))
    return (await files.listNow()).every((file) => {
      const before = this.#sizes.get(file.id)
      if (before === undefined) return false
      return file.id === id || lives.has(file.id) || file.size <= before || file.size < shipped
    })
  }

  /** Whether two checks agree on a file and all of it is shipped. */
  async #isOver(life: Life): Promise<boolean> {
    return this.#isQuiet(life.text.id) && (await life.text.size()) === life.shipped
  }
}
