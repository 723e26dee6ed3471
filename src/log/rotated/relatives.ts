import { BoundedMap } from '../../kit/limits/bounded-map.ts'
import { Budget, BudgetError } from '../../kit/limits/budget.ts'
import { each } from '../../kit/limits/each.ts'
import { inTurns } from '../../kit/limits/yield.ts'
import { type Entry, StoreError } from '../../store/store.ts'
import { LogError } from '../error.ts'
import { type LogFiles, perFiles } from '../files/files.ts'
import { type Opener, openText } from '../text/open.ts'
import type { Evidence, Text } from '../text/text.ts'
import { copyIn, isBeginningOf } from './copied.ts'
import { type Family, familyOf, type Head, lastFor, placeIn } from './family.ts'
import { headsOf } from './heads.ts'
import { kinOf, linkedId, type NamedFiles, namedFiles } from './kin.ts'
import { familyPrefixes, isRotatedName, parseDashed } from './names.ts'

/** How many heads are read at a time, and how long that may take: past it, the order is a guess. */
const HEADS_AT_ONCE = 8
const HEADS_MILLIS = 10_000
/** Each round may show that more heads are needed: a few, then all. */
const ROUNDS = 3
/** How many archives are read to their end at most. */
const MEASURED = 4
/** How many files are compared with one that begins alike. */
const COMPARED = 16
/** How often files are listed again if they move meanwhile. */
const LISTS = 5

/** The files of the log that `file` belongs to, oldest first. Heads are read if the names do not show the order. */
export async function listFamily(opener: Opener, file: string): Promise<Family> {
  const { files } = opener
  const { signal, clock } = opener.budget
  const note = newestFilesOf(files).look(file, clock.elapsed())
  const reader = {
    ...opener,
    trustDeclaredSize: false,
    budget: new Budget({ millis: HEADS_MILLIS, signal, clock }),
  }
  for (let tries = 1; ; tries++) {
    const isLast = tries >= LISTS
    const revision = isLast ? null : (files.revision?.() ?? null)
    const { name, named } = await relativesOf(files, file, signal)
    const family = await putInOrder(name, named, reader, { isLast, revision })
    // Files were renamed or truncated meanwhile: the list is outdated.
    if (family === null) continue
    const target = family.aliases.get(name) ?? name
    const own = name === file ? family : { ...family, aliases: new Map([...family.aliases, [file, target]]) }
    note(own)
    return own
  }
}

/** An attempt to put files in order. The last one makes do with what it can read. */
interface Attempt extends Pick<Evidence, 'revision'> {
  isLast: boolean
}

/** Files in order, without a copy of the active one; null if they moved meanwhile, unless this is the last attempt. */
async function putInOrder(name: string, named: NamedFiles, opener: Opener, attempt: Attempt) {
  const found = copyIn(name, named)
  if (!found) return arrangeFiles(name, named, opener, attempt)
  const { copy, active } = found
  const { isBeginning: isCopy, error } = await compare(opener, copy, active, attempt)
  if (hasMoved(error) && !attempt.isLast) return null
  if (!isCopy) return arrangeFiles(name, named, opener, attempt)
  const others = { ...named, files: named.files.filter(({ entry }) => entry !== copy), kin: new Map() }
  const family = await arrangeFiles(name, others, opener, attempt)
  return family && { ...family, aliases: new Map([...family.aliases, [copy.key, active.key]]) }
}

/** Files in order; null if they moved meanwhile. With `isLast`, those that moved must do without a head. */
async function arrangeFiles(name: string, named: NamedFiles, opener: Opener, attempt: Attempt) {
  const heads = headsOf(opener.files)
  // Only heads that were asked for: what else happens to be known must not change the order from page to page.
  const read = new Map<Entry, Head>()
  const headOf = (entry: Entry) => (entry.size === 0 ? UNKNOWN : read.get(entry))
  const compared = new Map<string, boolean>()
  const isBeginning = (one: Entry, other: Entry) => compared.get(`${one.key}\n${other.key}`)
  const inOrder = () => inTurns(familyOf(name, named, headOf, isBeginning))
  let family = await inOrder()
  for (let round = 0; round < ROUNDS && family.wanted.length > 0; round++) {
    let moved = false
    await each(family.wanted, HEADS_AT_ONCE, async (entry) => {
      const work = (text: Text) => heads.read(text)
      const error = heads.get(entry) ? null : await failureOf(opener, entry, work, attempt)
      // A broken archive, or a file that may not be read, has no head.
      const head = heads.get(entry) ?? (error ? UNKNOWN : null)
      if (head) read.set(entry, head)
      moved ||= hasMoved(error)
    })
    if (moved && !attempt.isLast) return null
    family = await inOrder()
  }
  if (family.unended.length > 0) {
    await each(family.unended, HEADS_AT_ONCE, async (entry) => {
      if (heads.get(entry)?.last === undefined) await failureOf(opener, entry, (text) => heads.end(text))
      read.set(entry, heads.get(entry) ?? UNKNOWN)
    })
    family = await inOrder()
  }
  // Archives are read to their end for their length: copies are rare, and come in pairs.
  for (const entry of family.unmeasured.slice(0, MEASURED)) {
    await failureOf(opener, entry, (text) => heads.measure(text))
    read.set(entry, heads.get(entry) ?? UNKNOWN)
  }
  if (family.unmeasured.length > 0) family = await inOrder()
  for (const [one, other] of family.unproven.slice(0, COMPARED))
    compared.set(`${one.key}\n${other.key}`, (await compare(opener, one, other)).isBeginning)
  return family.unproven.length > 0 ? inOrder() : family
}

const UNKNOWN = { time: null, print: null }
const MOVED: readonly string[] = ['changed', 'unknown-file']

/** Whether a file was renamed, truncated or deleted after it was listed. */
function hasMoved(error: LogError | StoreError | BudgetError | null): boolean {
  return error !== null && 'code' in error && MOVED.includes(error.code)
}

/**
 * Whether a file is the beginning of another one, and why that is not known. A storage that fails is no answer: to take a
 * copy for another file would be to give its records twice.
 */
async function compare(opener: Opener, one: Entry, other: Entry, evidence?: Evidence) {
  let isBeginning = false
  const work = async (text: Text) => {
    isBeginning = await isBeginningOf(text, await openText(opener, other))
  }
  const error = await failureOf(opener, one, work, evidence)
  if (error instanceof StoreError && error.code === 'unavailable') throw error
  return { isBeginning, error }
}

/** Opens a file for some work. Returns why it failed, if that is the file's or the budget's fault; otherwise null. */
async function failureOf(
  opener: Opener,
  entry: Entry,
  work: (text: Text) => Promise<void>,
  evidence?: Evidence,
) {
  try {
    if (!(await opener.budget.step())) return new BudgetError()
    await work(await openText(opener, entry, evidence))
    return null
  } catch (error) {
    if (error instanceof LogError || error instanceof StoreError || error instanceof BudgetError) return error
    throw error
  }
}

/** The files that may belong to the same log, and a telling name: a link may be called anything. */
async function relativesOf(files: LogFiles, file: string, signal: AbortSignal | undefined) {
  const named = await startingWith(files, file, signal)
  if (isRotatedName(file)) return { name: file, named }
  const own = named.files.find(({ entry }) => entry.key === file)?.entry
  const alone = (await inTurns(kinOf(file, named))).members.length <= 1
  const id = own && linkedId(own)
  if (id === undefined || !alone) return { name: file, named }
  const all = await files.list(signal)
  const target = all.entries.find(
    (entry) => linkedId(entry) === id && entry.key !== file && isRotatedName(entry.key),
  )
  return target
    ? { name: target.key, named: await startingWith(files, target.key, signal) }
    : { name: file, named }
}

/** Whether there are files with a number after a dash that may be parts of a log, though it has no file of its own. */
export async function hasDashed({ files, budget }: Opener, log: string): Promise<boolean> {
  const named = await startingWith(files, log, budget.signal)
  return named.files.some(({ entry }) => parseDashed(entry.key)?.stem === log)
}

async function startingWith(files: LogFiles, file: string, signal: AbortSignal | undefined) {
  const entries: Entry[] = []
  // One list after the other: a file that is rotated in between is then in both. The other way around, it could be in none.
  for (const prefix of familyPrefixes(file)) entries.push(...(await files.startingWith(prefix, signal)))
  return namedFiles(entries)
}

/** A revision that is younger than this may not show a file that appeared right after it: file times are coarse. */
const COARSE_MS = 50

/** Which of a node's log files have nothing newer in their family, by the state of the directory. */
export const newestFilesOf = perFiles((files) => {
  const known = new BoundedMap<string, string>(1000)
  let revision: { mark: string; since: number } | null = null
  return {
    /** Whether a request for `file` finds nothing newer than `name`, because nothing has appeared since that was noted. */
    has(name: string, file: string): boolean {
      const mark = files.revision?.() ?? null
      return mark !== null && (known.get(name) === mark || (name === file && known.get(asked(file)) === mark))
    },
    /** Looks at the directory before a list is made; call the result with what the list shows. */
    look(file: string, at: number): (family: Family) => void {
      const mark = files.revision?.() ?? null
      if (mark === null) return () => {}
      if (revision?.mark !== mark) revision = { mark, since: at }
      const old = at - revision.since >= COARSE_MS
      return (family) => {
        if (!old) return
        const newest = family.members.at(-1)
        if (newest) known.set(newest.key, mark)
        if (placeIn(family, file) >= lastFor(family, file)) known.set(asked(file), mark)
      }
    },
  }
})

/** A rotated file is the last one of a request for itself, but not of one for its log. */
function asked(file: string): string {
  return `${file}\n`
}
