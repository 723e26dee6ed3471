import type { LogFile, LogFileDetail } from '../../client.ts'

export type ListedFile = LogFile & Partial<LogFileDetail>

/**
 * The newest first, but files whose times were known before keep their order: nothing moves under the pointer. Known
 * details stay until refreshed.
 */
export function inOrder(files: ListedFile[], before: ListedFile[] | null): ListedFile[] {
  const old = new Map((before ?? []).map((file, rank) => [file.name, { file, rank }]))
  const rank = (file: ListedFile) => {
    const found = old.get(file.name)
    return found === undefined || found.file.modified === undefined ? -1 : found.rank
  }
  return files
    .map((file) => ({ ...old.get(file.name)?.file, ...file }))
    .sort((a, b) => (rank(a) < 0 && rank(b) < 0 ? byAge(a, b) : rank(a) - rank(b)))
}

/** The same files with their present sizes; one that changed was written just now. */
export function grown(before: ListedFile[], plain: LogFile[]): ListedFile[] {
  const sizes = new Map(plain.map((file) => [file.name, file.size]))
  return before.map((file) => {
    const size = sizes.get(file.name) ?? file.size
    return size === file.size ? file : { ...file, size, modified: new Date().toISOString() }
  })
}

function byAge(a: ListedFile, b: ListedFile): number {
  const ages = [a, b].map((file) =>
    file.modified === undefined ? Number.POSITIVE_INFINITY : Date.parse(file.modified),
  )
  return (ages[1] === ages[0] ? 0 : ages[1]! - ages[0]!) || (a.name < b.name ? -1 : 1)
}
