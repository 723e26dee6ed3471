/**
 * Why a log cannot be read, independent of HTTP: `unknown-file`, `bad-cursor` (not one of ours),
 * `cursor-gone` (what it points into was truncated or is no longer there), `no-time` and `no-level` (the file's
 * lines have none), `bad-archive`, `archive-budget` (too much to decompress), `too-busy` (the maximum number of
 * searches or followers is reached), `too-many-sources` (to be merged), `bad-pattern`, `unsupported`, `not-configured` (the
 * place holds no logs but the homes of nodes).
 */
export type LogErrorCode =
  | 'unknown-file'
  | 'bad-cursor'
  | 'cursor-gone'
  | 'no-time'
  | 'no-level'
  | 'bad-archive'
  | 'archive-budget'
  | 'not-viewable'
  | 'too-busy'
  | 'too-many-sources'
  | 'bad-pattern'
  | 'unsupported'
  | 'not-configured'

/** Why a log cannot be read. The message is shown to clients: one sentence that says what to do. */
export class LogError extends Error {
  readonly code: LogErrorCode

  constructor(code: LogErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'LogError'
    this.code = code
  }
}

/** The budget ran out while the place of a cursor was looked for in archives: it may be there or not. */
export class UnfoundCursor extends LogError {
  constructor(cause: unknown) {
    super(
      'archive-budget',
      'The place of this cursor was not found in the archives within the limits of one request; start again without it.',
      { cause },
    )
  }
}
