import type { Escaped, Shown } from './shown.ts'

export interface Output<T extends Shown = Shown> {
  isTTY: boolean
  /** Writes, and waits while the reader is slow. False when the reader is gone. */
  write(text: T): Promise<boolean>
}

/** What a command needs from the system; supplied by the entry. */
export interface World {
  env: Readonly<Record<string, string | undefined>>
  stdout: Output
  stderr: Output<Escaped>
  /** Whether to show progress while something is awaited. @default true */
  progress?: boolean
  readFile(path: string): Promise<string>
  /** Resolves when standard input ends or the user presses Ctrl-C. @default there is no input */
  inputEnd?(): Promise<void>
  /** Aborts when the user presses Ctrl-C. */
  signal: AbortSignal
}

/** Exit codes, as in grep. */
export const FOUND = 0
export const NOTHING = 1
export const TROUBLE = 2
/** As a shell reports a program that Ctrl-C ended. */
export const INTERRUPTED = 130
