import type { Settings } from '../settings.ts'
import type { LineWriter } from './line-file.ts'
import { type Level, type LineFormat, type Origin, textLine } from './log-line.ts'

type Write = (origin: Origin, message: string, context?: Record<string, unknown>) => void

export type OwnLog = ReturnType<typeof openOwnLog>

const ORDER: readonly Level[] = ['debug', 'info', 'warn', 'error']

/**
 * Writes a line at once. Only when several come in one turn of the event loop, the later ones wait for its end and are
 * written together, before the next request is read. What comes after `close` is dropped.
 */
export function inBatches(writer: LineWriter): LineWriter {
  let held: string | null = null
  let closed = false
  const flush = () => {
    const text = held
    held = null
    if (text) writer.write(text)
  }
  return {
    write(line) {
      if (closed) return
      if (held !== null) {
        held += line
        return
      }
      held = ''
      setImmediate(flush)
      writer.write(line)
    },
    close() {
      flush()
      writer.close()
      closed = true
    },
  }
}

/** Opens our own log. A line is in the file before its request is answered, or with others of the same turn. */
export function openOwnLog(level: Settings['logLevel'], writer: LineWriter, format: LineFormat = textLine) {
  const lines = inBatches(writer)
  const writes = (wanted: Level) => level !== 'off' && ORDER.indexOf(wanted) >= ORDER.indexOf(level)
  const at = (level: Level): Write => {
    if (!writes(level)) return () => {}
    return (origin, message, context) => {
      lines.write(format({ time: Date.now(), level, origin, message, context: context ?? null }))
    }
  }
  return {
    writes,
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    /** Writes what is still buffered, then closes. */
    close: lines.close,
  }
}
