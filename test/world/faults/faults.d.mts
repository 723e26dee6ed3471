/** A fix that is undone. */
export interface Fault {
  name: string
  part: string
  fault: string
  fixed: string
  rule: string
  edits: { file: string; from: string; to: string }[]
}

export function readFaults(): Fault[]
/** The edits whose text is not in today's sources, or there twice. */
export function misfits(fault: Fault): Fault['edits']
/** The rows of the table in docs/reliability.md, by their faults. */
export function readRows(): Map<string, string>
