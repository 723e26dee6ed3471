import { BoundedMap } from '../../limits/bounded-map.ts'
import { Budget, BudgetError } from '../../limits/budget.ts'
import { each } from '../../limits/each.ts'
import type { Entry } from '../../store/store.ts'
import { StoreError } from '../../store/store.ts'
import { LogError } from '../error.ts'
import type { LogFiles } from '../files/files.ts'
import type { Text } from '../text/text.ts'
import { type Family, familyOf, lastFor, placeIn } from './family.ts'
import { type Heads, headsOf } from './heads.ts'
import { familyPrefixes, isRotatedName } from './names.ts'

/** How many heads are read at a time, and how long that may take: past it, the order is a guess. */
const AT_ONCE = 8
const HEADS_MILLIS = 10_000
/** Each round may show that more heads are needed: a few, then all. */
const ROUNDS = 3
/** How many archives are read to their end at most. */
const MEASURED = 4
/** How often files are listed again if they move meanwhile. */
const LISTS = 5

/** How files are read to put them in order. */
interface Reading {
  open: (entry: Entry, budget: Budget) => Promise<Text>
  signal: AbortSignal | undefined
}

/** The files of the log that `file` belongs to, as they are now. Heads are read if the names do not show the order. */
export async function findFamily(files: LogFiles, file: string, reading: Reading): Promise<Family> {
  const budget = new Budget({ millis: HEADS_MILLIS, signal: reading.signal })
  for (let tries = 1; ; tries++) {
    const { name, entries } = await relativesOf(files, file, reading.signal)
    const family = await putInOrder(name, entries, {
      files,
      budget,
      open: reading.open,
      last: tries >= LISTS,
    })
    // Files were renamed or truncated meanwhile: the list is outdated.
    if (family === null) continue
    if (name === file) return family
    const target = family.aliases.get(name) ?? name
    return { ...family, aliases: new Map([...family.aliases, [file, target]]) }
  }
}

interface Work {
  files: LogFiles
  budget: Budget
  open: Reading['open']
  /** Whether files that move meanwhile must do without a head. */
  last: boolean
}

async function putInOrder(name: string, entries: readonly Entry[], work: Work): Promise<Family | null> {
  const heads = headsOf(work.files)
  const failed = new Set<Entry>()
  const headOf = (entry: Entry) => heads.get(entry) ?? (failed.has(entry) ? UNKNOWN : undefined)
  let family = familyOf(name, entries, headOf)
  for (let round = 0; round < ROUNDS && family.wanted.length > 0; round++) {
    const moved = await readHeads(family.wanted, { ...work, heads, failed })
    if (moved && !work.last) return null
    family = familyOf(name, entries, headOf)
  }
  if (family.unmeasured.length === 0) return family
  await measure(family.unmeasured.slice(0, MEASURED), { ...work, heads, failed })
  return familyOf(name, entries, headOf)
}

/** Archives are read to their end for their length: copies are rare, and come in pairs. */
async function measure(
  entries: readonly Entry[],
  { heads, budget, open }: Work & { heads: Heads; failed: Set<Entry> },
): Promise<void> {
  for (const entry of entries) {
    try {
      if (await budget.step()) await heads.measure(await open(entry, budget))
    } catch (error) {
      if (!(error instanceof LogError || error instanceof StoreError || error instanceof BudgetError))
        throw error
    }
  }
}

const UNKNOWN = { time: null, print: null }

/** Reads heads, a few at a time. Returns whether files moved meanwhile. */
async function readHeads(
  wanted: readonly Entry[],
  { heads, failed, budget, open }: Work & { heads: Heads; failed: Set<Entry> },
): Promise<boolean> {
  let moved = false
  await each(wanted, AT_ONCE, async (entry) => {
    try {
      if (await budget.step()) await heads.read(await open(entry, budget))
      else failed.add(entry)
    } catch (error) {
      // A broken archive, or a file that may not be read, has no head.
      if (error instanceof BudgetError) failed.add(entry)
      else if (!(error instanceof LogError || error instanceof StoreError)) throw error
      else moved ||= error.code === 'changed' || error.code === 'unknown-file'
      failed.add(entry)
    }
  })
  return moved
}

/** The files that may belong to the same log, and a telling name: a link may be called anything. */
async function relativesOf(
  files: LogFiles,
  file: string,
  signal: AbortSignal | undefined,
): Promise<{ name: string; entries: Entry[] }> {
  const entries = await startingWith(files, file, signal)
  const own = entries.find(({ key }) => key === file)
  const alone = familyOf(file, entries).members.length <= 1
  if (own?.id === undefined || !alone || isRotatedName(file)) return { name: file, entries }
  const all = await files.list(signal)
  const target = all.entries.find(({ key, id }) => id === own.id && key !== file && isRotatedName(key))
  return target
    ? { name: target.key, entries: await startingWith(files, target.key, signal) }
    : { name: file, entries }
}

async function startingWith(
  files: LogFiles,
  file: string,
  signal: AbortSignal | undefined,
): Promise<Entry[]> {
  const lists = familyPrefixes(file).map((prefix) => files.startingWith(prefix, signal))
  return (await Promise.all(lists)).flat()
}

/** A revision that is younger than this may not show a file that appeared right after it: file times are coarse. */
const COARSE_MS = 50

/** Which files have nothing newer in their family, by the state of the directory. */
export class Settled {
  readonly #files: LogFiles
  readonly #known = new BoundedMap<string, string>(1000)
  #revision: { mark: string; since: number } | null = null

  constructor(files: LogFiles) {
    this.#files = files
  }

  /** Whether nothing newer than `file` has appeared since `note`. */
  has(file: string): boolean {
    const mark = this.#files.revision?.() ?? null
    return mark !== null && this.#known.get(file) === mark
  }

  /** Looks at the directory before a list is made; call the result with what the list shows. */
  look(file: string): (family: Family) => void {
    const mark = this.#files.revision?.() ?? null
    if (mark === null) return () => {}
    if (this.#revision?.mark !== mark) this.#revision = { mark, since: Date.now() }
    const old = Date.now() - this.#revision.since >= COARSE_MS
    return (family) => {
      if (!old) return
      const newest = family.members.at(-1)
      if (newest) this.#known.set(newest.key, mark)
      if (placeIn(family, file) >= lastFor(family, file)) this.#known.set(file, mark)
    }
  }
}

const settled = new WeakMap<LogFiles, Settled>()

export function settledOf(files: LogFiles): Settled {
  const known = settled.get(files) ?? new Settled(files)
  settled.set(files, known)
  return known
}
