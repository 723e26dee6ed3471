import { asOne } from '../../bytes.ts'
import type { Budget } from '../../limits/budget.ts'
import type { LineFormat } from '../format/detect.ts'
import type { Source } from '../render/rendered.ts'
import type { OpenLog } from '../rotated/open.ts'
import type { Scan } from '../search/scan.ts'
import { scanForward } from '../search/scan-forward.ts'
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

/** How much is found before it is sent. */
const PAGE = 1024 * 1024

/** The next records of a forward search, or null if this part of the log has none, and where to go on. */
export async function nextRecords(
  scan: Omit<Scan, 'fit' | 'countBy'>,
): Promise<{ records: Uint8Array | null; to: number; inside: boolean }> {
  const { pieces, memory, to, inside } = await scanForward({
    ...scan,
    fit: { size: PAGE, lines: null },
    countBy: 'records',
  })
  memory?.release()
  return { records: pieces.length > 0 ? asOne(pieces) : null, to, inside }
}
