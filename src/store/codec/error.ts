/**
 * `bad-archive`: the bytes are damaged or end early. `unsupported`: this runtime has no decoder for them.
 * `not-viewable`: no runtime has one, or they do not hold a single text.
 */
export type CodecErrorCode = 'bad-archive' | 'unsupported' | 'not-viewable'

/** Why compressed bytes could not be read. The message is shown to clients. */
export class CodecError extends Error {
  readonly code: CodecErrorCode

  constructor(code: CodecErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'CodecError'
    this.code = code
  }
}
