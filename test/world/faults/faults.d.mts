/** A fix that is undone, and the lines before its patch. */
export interface Fault {
  name: string
  path: string
  part: string
  fault: string
  fixed: string
  rule: string
}

export function readFaults(): Fault[]
export function fits(fault: Fault): boolean
/** The rows of the table in docs/reliability.md, by their faults. */
export function readRows(): Map<string, string>
