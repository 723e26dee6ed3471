import { inTurns, isTurnOver, yieldToEventLoop } from '../../kit/limits/yield.ts'
import type { Entry } from '../../store/store.ts'
import { byName, isActive, type RotatedFile } from './by-name.ts'
import { isAlone, isDatedInside, isRotated, parseName, uncompressedName } from './names.ts'
import { dashedLogs, type Rolled, rollsOver, type Times } from './rolled.ts'

/** The files of a log by their names alone: each once, in order of the names, and the other names of some. */
interface Kin {
  members: RotatedFile[]
  aliases: ReadonlyMap<string, string>
}

/** Files by what their names say. */
export interface NamedFiles {
  files: readonly RotatedFile[]
  keys: ReadonlySet<string>
  /** Logs that may have files with numbers after a dash. */
  dashed: ReadonlyMap<string, Rolled>
  /** What was found out about a log: its files are put in order more than once. */
  kin: Map<string, Kin>
}

/** How many names are one step: a name takes up to 10 microseconds. */
const NAMES_AT_ONCE = 500

/** Parses the names of files, in steps of some milliseconds: there may be 100,000. */
export function namedFiles(entries: readonly Entry[]): Promise<NamedFiles> {
  return inTurns(namedInSteps(entries))
}

function* namedInSteps(entries: readonly Entry[]): Generator<void, NamedFiles> {
  const files: RotatedFile[] = []
  for (const entry of entries) {
    if (files.length % NAMES_AT_ONCE === 0) yield
    files.push({ entry, ...parseName(entry.key) })
  }
  yield
  const keys = new Set(entries.map((entry) => entry.key))
  yield
  const dashed = dashedLogs(entries)
  yield
  return { files, keys, dashed, kin: new Map() }
}

/**
 * The log that each file belongs to, by the name of its active file or, without one, by its stem. Files with numbers after
 * a dash are parts of a log only where `timesOf` shows it.
 */
export async function logNames(
  entries: readonly Entry[],
  timesOf: (entry: Entry) => Times | undefined = () => undefined,
): Promise<Map<string, string>> {
  const { files, keys, dashed } = await namedFiles(entries)
  const logs = new Map<string, string>()
  const byId = new Map<string, string>()
  for (const [i, file] of files.entries()) {
    if (i % NAMES_AT_ONCE === 0 && isTurnOver()) await yieldToEventLoop()
    const { key } = file.entry
    const id = linkedId(file.entry)
    const log = isAlone(file, keys) ? key : file.stem
    logs.set(key, log)
    if (id !== undefined && isRotated(file) && log !== key) byId.set(id, log)
  }
  // A link to the newest file belongs to the log of that file.
  for (const [i, entry] of entries.entries()) {
    if (i % NAMES_AT_ONCE === 0 && isTurnOver()) await yieldToEventLoop()
    const { key } = entry
    const id = linkedId(entry)
    const log = id === undefined ? undefined : byId.get(id)
    if (log !== undefined && logs.get(key) === key) logs.set(key, log)
  }
  for (const [name, log] of dashed)
    if (rollsOver(log, timesOf)) for (const { entry } of log.files) logs.set(entry.key, name)
  return logs
}

/**
 * The newest file of a log whose files all have dates inside their names, as PostgreSQL's have; null for any other name.
 * Lists call such a log by the name without the date, which no file has.
 */
export async function newestDated(entries: readonly Entry[], log: string): Promise<string | null> {
  const logs = await logNames(entries)
  const files = entries.filter(({ key }) => logs.get(key) === log)
  if (files.length === 0 || !files.every(({ key }) => isDatedInside(key))) return null
  const newest = files.reduce((a, b) => (b.modified >= a.modified ? b : a))
  return newest.key
}

/** The identity by which a link is known. That of a shipped file tells only the files of one log apart. */
export function linkedId({ id, appendOnly }: Entry): string | undefined {
  return appendOnly ? undefined : id
}

/** The files of a log, with those that have a number after a dash. */
export function* kinOf(
  log: string,
  named: NamedFiles,
  dashed: readonly RotatedFile[] = [],
): Generator<void, Kin> {
  const known = dashed.length === 0 ? named.kin.get(log) : undefined
  if (known) return known
  const aliases = new Map<string, string>()
  const all = [...membersOf(log, named), ...dashed]
  yield
  const found = withoutTwins(all, aliases)
  yield
  const single = withoutLinks(found, aliases)
  yield
  const kin = { members: single.sort(byName), aliases }
  if (dashed.length === 0) named.kin.set(log, kin)
  return kin
}

function membersOf(name: string, { files, keys }: NamedFiles): RotatedFile[] {
  const own = parseName(name)
  if (isAlone(own, keys)) return files.filter(({ entry }) => entry.key === name)
  return files.filter((file) => file.stem === own.stem && !isAlone(file, keys))
}

/** While a file is being compressed, it exists twice; only the uncompressed one counts. */
function withoutTwins(members: RotatedFile[], aliases: Map<string, string>): RotatedFile[] {
  const plain = new Set(members.filter((member) => !member.compressed).map((member) => member.entry.key))
  return members.filter(({ compressed, entry }) => {
    const twin = compressed ? uncompressedName(entry.key) : ''
    if (!plain.has(twin)) return true
    aliases.set(entry.key, twin)
    return false
  })
}

/** A link and its target are one file. The name with the date or number stays: it says where the file belongs. */
function withoutLinks(members: RotatedFile[], aliases: Map<string, string>): RotatedFile[] {
  const byId = new Map<string, RotatedFile>()
  for (const member of members) {
    const { id } = member.entry
    const other = id === undefined ? undefined : byId.get(id)
    if (id !== undefined && (!other || isActive(other))) byId.set(id, member)
  }
  return members.filter(({ entry }) => {
    const kept = entry.id === undefined ? undefined : byId.get(entry.id)
    if (!kept || kept.entry === entry) return true
    aliases.set(entry.key, kept.entry.key)
    return false
  })
}
