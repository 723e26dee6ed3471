export interface Flag {
  name: string
  /** A single letter. */
  short?: string
  /** The name of its value in the help. Without one it is a switch. */
  value?: string
  /** What it is set to when it is given without a value; without this, a value is required. */
  bare?: string
  /** The switch that this one turns off: `--no-page` for `page`. */
  negates?: string
  /** May be given several times; otherwise the last one wins. */
  list?: boolean | undefined
  help: string
  /** The only values it takes. */
  choices?: readonly string[]
  /** Completes "needs a value: …". @default the name of its value */
  expects?: string
}

/** A command line as it was read: the values of each flag, and the other arguments. */
export interface CommandLine {
  positional: string[]
  flags: Map<string, string[]>
}

/** A command line that cannot be understood. The message is one sentence that says what to do. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
