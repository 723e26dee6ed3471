import type { Cursor } from '../text/cursor.ts'

/**
 * What happened to a log: bytes were appended, whole lines arrived late, it goes on elsewhere, bytes before a place are
 * missing, or something happened to its file.
 */
export type Change =
  | { kind: 'data'; name: string; id: string | null; offset: number; bytes: Uint8Array }
  | { kind: 'late'; bytes: Uint8Array }
  | { kind: 'place'; place: Cursor }
  | { kind: 'missing'; file: string; place: Cursor }
  | { kind: 'rotated'; file: string; to: string }
  | { kind: 'truncated'; file: string }
  | { kind: 'gap'; file: string; records?: number }

/** What happened to a file, for its followers. */
export type FileChange = Exclude<Change, { kind: 'data' | 'late' | 'place' | 'missing' }>

/**
 * What followers of a log are told when it goes on in another file. The move `isWhole` if the order of the files is certain
 * and no bytes were lost between them. The file `isRenamed` if clients know its new name already.
 */
export function moveChange(
  log: string,
  { from, to, isWhole, isRenamed }: { from: string; to: string; isWhole: boolean; isRenamed: boolean },
): FileChange | null {
  if (!isWhole) return { kind: 'gap', file: log }
  return isRenamed ? null : { kind: 'rotated', file: from, to }
}

/** How many bytes were appended. */
export function bytesIn(changes: readonly Change[]): number {
  return changes.reduce((sum, change) => sum + ('bytes' in change ? change.bytes.length : 0), 0)
}

/** What is followed: a log, or with `alone` a file that its log has left behind. */
export interface Followed {
  file: string
  alone: boolean
  /** Whether it may begin at the end of an archive, if the log has nothing newer. */
  archived: boolean
}
