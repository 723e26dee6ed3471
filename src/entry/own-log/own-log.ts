import { configureSync, getLogger, type Logger, type LogLevel, type Sink } from '@logtape/logtape'
import type { Settings } from '../../settings.ts'
import { type CallSite, formatLine, type LineProperties } from './log-line.ts'
import type { LineWriter } from './rotating-file.ts'

/** The service's own log. */
export interface OwnLog {
  /** Whether lines of this level are written at all. */
  writes(level: Level): boolean
  debug(site: CallSite, message: string, context?: Record<string, unknown>): void
  info(site: CallSite, message: string, context?: Record<string, unknown>): void
  warn(site: CallSite, message: string, context?: Record<string, unknown>): void
  error(site: CallSite, message: string, context?: Record<string, unknown>): void
  /** Writes what is still held back, and ends. */
  close(): void
}

type Level = Exclude<Settings['logLevel'], 'off'>

const LEVELS = { debug: 'debug', info: 'info', warn: 'warning', error: 'error' } as const
const ORDER: readonly Level[] = ['debug', 'info', 'warn', 'error']

/** LogTape has one configuration per process: all logs that are open stand in it, each under its own category. */
const open = new Map<string, { sink: Sink; level: Level }>()
let opened = 0

/**
 * Opens the own log. A line is in the file before its request is answered; only when several come in one turn of the
 * event loop, the later ones wait for its end and are written together, before the next request is read.
 */
export function openOwnLog(level: Settings['logLevel'], writer: LineWriter): OwnLog {
  const id = String(++opened)
  let held: string | null = null
  const flush = () => {
    const text = held
    held = null
    if (text) writer.write(text)
  }
  const sink: Sink = (record) => {
    const line = formatLine(record)
    if (held !== null) {
      held += line
      return
    }
    held = ''
    setImmediate(flush)
    writer.write(line)
  }
  if (level !== 'off') {
    open.set(id, { sink, level })
    configure()
  }
  const loggers = new Map<CallSite, Logger>()
  const write = (level: Level) => {
    return (site: CallSite, message: string, context: Record<string, unknown> | null = null) => {
      let logger = loggers.get(site)
      if (!logger) {
        logger = getLogger(['nodestate', id, ...site.tags])
        loggers.set(site, logger)
      }
      // The message is a property, not the template: braces in a URL are no placeholders.
      logger[LEVELS[level]]('{message}', { site, message, context } satisfies LineProperties as never)
    }
  }
  return {
    writes: (wanted) => level !== 'off' && ORDER.indexOf(wanted) >= ORDER.indexOf(level),
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    close() {
      flush()
      writer.close()
      if (open.delete(id)) configure()
    },
  }
}

function configure(): void {
  configureSync({
    reset: true,
    sinks: Object.fromEntries([...open].map(([id, { sink }]) => [id, sink])),
    loggers: [
      { category: ['logtape', 'meta'], sinks: [] },
      ...[...open].map(([id, { level }]) => ({
        category: ['nodestate', id],
        sinks: [id],
        lowestLevel: LEVELS[level] satisfies LogLevel,
      })),
    ],
  })
}
