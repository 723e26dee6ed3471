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
