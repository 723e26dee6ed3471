import { BudgetError } from '../../kit/limits/budget.ts'
import { each } from '../../kit/limits/each.ts'
import { isTurnOver, yieldToEventLoop } from '../../kit/limits/yield.ts'
import { soundsCompressed } from '../../store/codec/kind.ts'
import { type Entry, MissingBytes, replaced } from '../../store/store.ts'
import { LogError, UnfoundCursor } from '../error.ts'
import { badCursor, type Cursor, SHARED, wholePrint } from '../text/cursor.ts'
import { charsetOf } from '../text/kind.ts'
import {
  gone,
  type LogRequest,
  type Opener,
  type OpenLog,
  openFile,
  openText,
  type Prefetch,
} from '../text/open.ts'
import { Series } from '../text/series.ts'
import { holds, PlainText, type Text } from '../text/text.ts'
import { type Family, lastFor, lastOfWhole, placeIn } from './family.ts'
import { headsOf } from './heads.ts'
import { isRotatedName, mayBeRelated } from './names.ts'
import { hasDashed, listFamily, newestFilesOf } from './relatives.ts'

/** How much is compared at the beginning of a copy. */
const COMPARED = 4096
/** How much is read with a cursor's fingerprint: a poll that finds little costs one call of the store. */
const AHEAD = 64 * 1024

/** Opens a file with its predecessors, or everything from a cursor on, even if its file was rotated. */
export async function openRotated(opener: Opener, request: LogRequest, prefetch: Prefetch): Promise<OpenLog> {
  const { file, cursor } = request
  if (cursor) return openAtCursor(opener, request, cursor.place, cursor.direction)
  const [opened, family] = await Promise.all([openFile(opener, file, prefetch), listFamily(opener, file)])
  const own = placeIn(family, file)
  const listed = family.members[own]
  // What is not listed was made meanwhile, and the file that had its name may not be listed, either.
  if (!listed) throw replaced(file)
  // A copy is read as its original. The log's own name is never a copy: it is a link, or a rotation is under way.
  const isCopy = isRotatedName(file) && listed.key !== file && listed.id !== opened.entry.id
  // Both begin alike, unless the original was truncated since it was listed.
  const text = isCopy
    ? await openText(opener, listed, { begin: wholePrint(await opened.head(COMPARED)) })
    : opened
  const isSure = own === 0 && listed.etag === text.entry.etag
  if (!isSure && (await wasReplaced(opener, text, listed))) throw replaced(file)
  const older = await openTexts(opener, family.members.slice(0, own))
  const newer = family.members.slice(own + 1, lastOfWhole(family, file) + 1)
  const series = await Series.open([...older, text, ...(await openTexts(opener, newer))])
  return { series, at: null, certain: family.certain }
}

/** How many files are opened at a time: the kind of an archive may cost a request. */
const FILES_AT_ONCE = 64

async function openTexts(opener: Opener, entries: readonly Entry[]): Promise<Text[]> {
  const texts = new Array<Text>(entries.length)
  const heads = headsOf(opener.files)
  await each(entries, FILES_AT_ONCE, async (entry, i) => {
    if (isTurnOver()) await yieldToEventLoop()
    // Where copies of a log are compressed, the next copy may get the name and the inode of the one before it.
    texts[i] = await openText(opener, entry, { begin: heads.get(entry)?.begin })
  })
  return texts
}

async function openAtCursor(
  opener: Opener,
  { file, rotated, context }: LogRequest,
  cursor: Cursor,
  direction: 'before' | 'after',
): Promise<OpenLog> {
  const related = mayBeRelated(cursor.name, file)
  const direct = await openDirectly(opener, cursor)
  // In the file itself, nothing newer is needed, and nothing older unless the whole family is requested.
  const isNewest = direction === 'after' && !mayTurn(rotated, cursor) && isEnough(opener, cursor.name, file)
  // The records around a match may be in a file on the other side of the cursor.
  const isAround = rotated && context !== undefined
  if (direct && related && !isAround && (direction === 'after' ? isNewest : !rotated))
    return { series: await Series.open([direct]), at: cursor.offset, certain: true }

  const { family, found } = await findCursor(opener, { file, cursor, direct })
  if (!related && placeIn(family, cursor.name) < 0) throw badCursor(direction, 'belongs to another log file')
  // During a rotation, a log may have no file of its own name, which tells the files with a number after a dash apart.
  if (family.members.length === 0 && (await hasDashed(opener, file))) await comesBack(opener, file)
  if (!found) throw gone()
  const index = placeIn(family, found.name)
  const isOlder = rotated && index > 0 && (direction === 'before' || isAround || mayTurn(rotated, cursor))
  const before = isOlder ? family.members.slice(0, index) : []
  // One with text is enough to say that a page comes before.
  const last = direction === 'before' || isAround ? 0 : before.findLastIndex(({ size }) => size > 0)
  const older = before.slice(Math.max(0, last))
  const isNewer = index >= 0 && (direction === 'after' || isAround)
  const newer = isNewer ? family.members.slice(index + 1, lastFor(family, file) + 1) : []
  const texts = [...(await openTexts(opener, older)), found, ...(await openTexts(opener, newer))]
  const series = await Series.open(texts)
  const at = (await series.addresses.base(older.length)) + cursor.offset
  const certain = isAround ? texts.length === 1 : (direction === 'before' ? older : newer).length === 0
  return { series, at, certain: certain || family.certain }
}

/** Throws `unknown-file` if the log still has no file, and `changed` if it has one again. */
async function comesBack({ files, budget }: Opener, file: string): Promise<never> {
  await files.stat(file, budget.signal)
  throw replaced(file)
}

/** Whether a page after a cursor has one before it in an older file. */
function mayTurn(rotated: boolean, { offset }: Cursor): boolean {
  return rotated && offset === 0
}

/** How often to search for a file that may be moving. */
const LOOKS = 3

/** The family of a file, and the member that a cursor points into. Files may move during the search. */
async function findCursor(
  opener: Opener,
  { file, cursor, direct }: { file: string; cursor: Cursor; direct: Text | null },
): Promise<{ family: Family; found: Text | null }> {
  for (let look = 1; ; look++) {
    const revision = opener.files.revision?.() ?? null
    const family = await listFamily(opener, file)
    // Between the read and the list, a rotation may have given the name to another file, or the file may have grown and
    // been followed by another one: then its size is the one of the list.
    const same = direct ? family.members[placeIn(family, direct.name)] : undefined
    const isStill = direct && same && isSame(same, direct.entry) && !(await wasReplaced(opener, direct, same))
    const still = isStill ? direct : null
    const found = still ? await atLeast(opener, still, same!) : await findMoved(opener, family, cursor)
    const moved = revision !== (opener.files.revision?.() ?? null)
    if (found || look >= LOOKS || !moved) return { family, found }
  }
}

/**
 * Whether a file was renamed or truncated after it was opened or listed: what was read of it may be in an older file of the
 * list, too. Objects in a bucket are not truncated, and have another version then.
 */
async function wasReplaced({ files, budget }: Opener, text: Text, listed: Entry): Promise<boolean> {
  const { entry, name } = text
  if (entry.id === undefined || entry.appendOnly) return false
  // It may have grown again since: then the file as it was read and as it was listed show that it was truncated.
  const [one, other] = entry.modified < listed.modified ? [entry, listed] : [listed, entry]
  if (one.modified < other.modified && one.size > other.size) return true
  // If it grew past its old size, only its bytes show it. It may be truncated after the list, while a copy is compared.
  const seen = entry.etag === listed.etag ? await files.stat(name, budget.signal) : null
  const print = seen?.etag === entry.etag || text.compressed ? null : text.known(entry.size)
  const current = print && (await PlainText.openAt(files, name, print, budget))
  if (current && !(await holds(current, { offset: 0, print }))) return true
  const now = current?.entry ?? seen ?? (await files.stat(name, budget.signal))
  return [entry, listed].some(({ id, size }) => id !== now.id || size > now.size)
}

/** The text of a file with the size that a later list shows. */
async function atLeast(opener: Opener, text: Text, listed: Entry): Promise<Text> {
  return listed.size > text.entry.size ? openText(opener, { ...listed, key: text.name }) : text
}

/** Whether what comes after a cursor in the file `name` can only be there, for a request for `file`. */
function isEnough({ files }: Opener, name: string, file: string): boolean {
  if (newestFilesOf(files).has(name, file)) return true
  // rotatelogs can cycle through numbered files, so the log's own name is not always the newest. On a bucket, where a
  // list is a request, nobody does that.
  return name === file && !isRotatedName(file) && (files.revision?.() ?? null) === null
}

/** Looks for what a cursor points into. A forged cursor would decompress every archive, so this has a budget. */
async function findMoved(opener: Opener, family: Family, cursor: Cursor): Promise<Text | null> {
  const { unpacking = (job) => job() } = opener
  try {
    return await unpacking(() => findAmong(opener, family, cursor))
  } catch (error) {
    if (!(error instanceof BudgetError)) throw error
    throw new UnfoundCursor(error)
  }
}

/** The file of the cursor's own name, if it is still the one that the cursor points into. */
async function openDirectly(opener: Opener, cursor: Cursor): Promise<Text | null> {
  const { files, budget, charset } = opener
  if (soundsCompressed(cursor.name) || (charset !== undefined && charset !== 'marked')) return null
  try {
    const offset = Math.min(cursor.print.offset, cursor.offset)
    const text = await PlainText.openAt(files, cursor.name, { offset, length: AHEAD }, budget).catch(
      async (error) => {
        // The cursor may still be valid: missing bytes show when they are read.
        if (!(error instanceof MissingBytes)) throw error
        return new PlainText(files, await files.stat(cursor.name, budget.signal), budget)
      },
    )
    const { id, size, appendOnly } = text.entry
    if (cursor.id !== null && id !== undefined && cursor.id !== id) return null
    const isWide = charset && text.mayBeWide
    if (isWide && (await charsetOf(files, text.entry, { signal: budget.signal, isLikely: true }))) return null
    if (appendOnly && cursor.id !== null) return size >= cursor.offset ? text : null
    if ((await text.kind()) !== 'plain') return null
    return (await holds(text, cursor)) ? text : null
  } catch (error) {
    if (error instanceof LogError && error.code === 'unknown-file') return null
    throw error
  }
}

/** The identity of an append-only file: the number of its life. */
const LIFE = /^-?\d{1,8}$/
/** Deflate compresses by 1,032 to 1 at most; zstd by more, but not for real text. */
const MAX_RATIO = 2000

/**
 * The member of a family that holds what the cursor saw: by identity first, then by name, then the newest first. Null if
 * several hold what all files of the log may begin with.
 *
 * @param changed when the file was last modified, if it was followed until now: older files are ruled out
 */
export async function findAmong(
  opener: Opener,
  { members }: Family,
  cursor: Cursor,
  changed: number | null = null,
): Promise<Text | null> {
  const mayBeShared = cursor.id !== null && cursor.offset <= SHARED
  const hasIdentity = ({ id, key }: Entry) =>
    cursor.id === null || id === undefined ? key === cursor.name : id === cursor.id
  // Another file with the name is probably a new one, if it only begins as the old one did.
  const isNew = cursor.print.offset === 0 || (mayBeShared && changed !== null)
  const rank = (entry: Entry) => {
    if (hasIdentity(entry)) return 0
    return entry.key === cursor.name ? (isNew ? 3 : 1) : 2
  }
  // Archives may have whole seconds.
  const since = mayBeShared && changed !== null ? Math.floor(changed / 1000) * 1000 : Number.NEGATIVE_INFINITY
  const isOlder = (entry: Entry) => entry.modified < since
  const candidates = members.filter((entry) => hasIdentity(entry) || !isOlder(entry)).reverse()
  candidates.sort((a, b) => rank(a) - rank(b))
  let only: Text | null = null
  for (const entry of candidates) {
    // Compression takes the identity of a file, and a new file got its name.
    if (only?.compressed && rank(entry) === 3) break
    // Nothing was read of an empty file: only its identity or, without one, its name can decide.
    if (cursor.print.length === 0 && !hasIdentity(entry)) continue
    const text = await openText(opener, entry)
    const reach = Math.max(cursor.offset, cursor.print.offset + cursor.print.length)
    if ((text.compressed ? entry.size * MAX_RATIO : entry.size) < reach) continue
    // The identity of an append-only file is never reused. On its node's disk, the same file had another one.
    if (entry.appendOnly && cursor.id !== null && LIFE.test(cursor.id)) {
      if (hasIdentity(entry)) return text
      continue
    }
    if (!(await holds(text, cursor))) {
      // It keeps megabytes of text otherwise, and there may be many of them.
      await text.release?.()
      continue
    }
    if (!mayBeShared || hasIdentity(entry)) return text
    if (only) {
      await Promise.all([only.release?.(), text.release?.()])
      return null
    }
    only = text
  }
  return only
}

/** Whether two entries of one name are of one file: an object that changed may be another. */
function isSame(a: Entry, b: Entry): boolean {
  return a.id !== undefined ? a.id === b.id : a.etag === b.etag
}
