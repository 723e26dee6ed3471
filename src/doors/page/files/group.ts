import { isAlone, parseName } from '../../../log/rotated/names.ts'
import type { ListedFile } from './order.ts'

/** A log with the files it was rotated into, newest first. */
export interface LogEntry {
  kind: 'log'
  /** What to show: the name without its folders. */
  label: string
  head: ListedFile
  rotated: ListedFile[]
}

/** A part of the names before a slash, with what is below it. */
export interface Folder {
  kind: 'folder'
  label: string
  path: string
  entries: Entry[]
}

export type Entry = LogEntry | Folder

/** The files as logs with their rotated parts, in folders where names have slashes; the order of the files is kept. */
export function grouped(files: readonly ListedFile[]): Entry[] {
  const names = new Set(files.map((file) => file.name))
  const logs = new Map<string, ListedFile[]>()
  for (const file of files) {
    const log = logOf(file, names)
    const known = logs.get(log)
    if (known === undefined) logs.set(log, [file])
    else known.push(file)
  }
  const root: Folder = { kind: 'folder', label: '', path: '', entries: [] }
  for (const [log, members] of logs) {
    const head = members.find((file) => file.name === log) ?? newest(members)
    const parts = head.name.split('/')
    const label = parts.pop()!
    const rotated = members.filter((file) => file !== head).sort(byAge)
    folderAt(root, parts).entries.push({ kind: 'log', label, head, rotated })
  }
  return root.entries
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

function folderAt(root: Folder, parts: string[]): Folder {
  let here = root
  for (const part of parts) {
    const path = here.path === '' ? part : `${here.path}/${part}`
    let next = here.entries.find((entry): entry is Folder => entry.kind === 'folder' && entry.path === path)
    if (next === undefined) {
      next = { kind: 'folder', label: part, path, entries: [] }
      here.entries.push(next)
    }
    here = next
  }
  return here
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
