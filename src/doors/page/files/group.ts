import { isAlone, parseName } from '../../../log/rotated/names.ts'
import type { ListedFile } from './order.ts'

/** A log with the files it was rotated into, newest first. */
export interface LogEntry {
  head: ListedFile
  rotated: ListedFile[]
}

/** The files as logs with their rotated parts; the order of the files is kept. */
export function grouped(files: readonly ListedFile[]): LogEntry[] {
  const names = new Set(files.map((file) => file.name))
  const logs = new Map<string, ListedFile[]>()
  for (const file of files) {
    const log = logOf(file, names)
    logs.set(log, [...(logs.get(log) ?? []), file])
  }
  return [...logs].map(([log, members]) => {
    const head = members.find((file) => file.name === log) ?? newest(members)
    return { head, rotated: members.filter((file) => file !== head).sort(byAge) }
  })
}

/** The names of the logs, without those of their rotated files. */
export function logNames(files: readonly ListedFile[]): string[] {
  const names = new Set(files.map((file) => file.name))
  return [...new Set(files.map((file) => logOf(file, names)))].filter((name) => names.has(name))
}

/** Every file of the log that a file belongs to. */
export function familyOf(files: readonly ListedFile[], name: string): ListedFile[] {
  const names = new Set(files.map((file) => file.name))
  const own = files.find((file) => file.name === name)
  if (own === undefined) return []
  const log = logOf(own, names)
  return files.filter((file) => logOf(file, names) === log)
}

/** The file that a log which is gone was most likely renamed to, or null. */
export function successorOf(files: readonly ListedFile[], gone: string): string | null {
  const names = new Set([...files.map((file) => file.name), gone])
  const parts = files.filter((file) => file.name !== gone && logOf({ ...file, log: null }, names) === gone)
  return parts.length === 0 ? null : newest(parts).name
}

/** The log that a file is a part of: as the node says, otherwise by its name. */
function logOf(file: ListedFile, names: ReadonlySet<string>): string {
  if (file.log != null) return file.log
  const parsed = parseName(file.name)
  return isAlone(parsed, names) ? file.name : parsed.stem
}

function newest(files: ListedFile[]): ListedFile {
  return [...files].sort(byAge)[0]!
}

function byAge(a: ListedFile, b: ListedFile): number {
  const [one, other] = [a, b].map((file) => (file.modified === undefined ? 0 : Date.parse(file.modified)))
  return other! - one! || (a.name < b.name ? 1 : -1)
}
