/** A copy of a file's end in a file without a name, which nobody changes any more. */
export interface Snapshot {
  /** Where in the file it begins. */
  readonly base: number
  readonly bytes: number
  readonly fd: number
  readonly file: Blob
  /** The range that was asked for last, and its first slice. */
  last: { offset: number; length: number; body: Blob; head: Uint8Array<ArrayBuffer> } | null
  close(): void
}
