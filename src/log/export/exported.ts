import type { Budget } from '../../limits/budget.ts'
import type { LineFormat } from '../format/detect.ts'
import type { Source } from '../render/rendered.ts'
import type { OpenLog } from '../text/open.ts'
import type { Note } from '../view/answer.ts'
import type { ViewRequest } from '../view/request.ts'

/** Every record of a log that a request wants, oldest first. */
export interface Export {
  format: LineFormat
  notes: Note[]
  /** The next records, some at a time; null after the last. It throws rather than end early. */
  next: Source
  /** Releases the search slot. Called at the end, or when the client disconnects before it. */
  close(): void
}

/** What an export reads. */
export interface Running {
  log: OpenLog
  request: ViewRequest
  budget: Budget
  close(): void
}

/** Some pieces as one. */
export function concat(pieces: readonly Uint8Array[]): Uint8Array {
  if (pieces.length === 1) return pieces[0]!
  const all = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    all.set(piece, at)
    at += piece.length
  }
  return all
}
