import { parseShallow } from '../../kit/limits/shallow-json.ts'
import { DAY_MINUTES, type DayCounts } from './day.ts'

export interface ShippedLog {
  life: number
  /** Bytes of that life in the bucket. */
  size: number
  /** Bytes that are only on disk. */
  lagBytes: number
  /** How long the oldest of them have been waiting. */
  lagSeconds: number
}

/** How many errors and warnings a log had in each minute of the last hour, and in the last day. */
export interface LogCounts {
  /** The time of its last record, in ms; null if it has none. */
  lastLine: number | null
  /** Errors and warnings by minute since the epoch; minutes without any are left out. */
  minutes: Record<string, readonly [errors: number, warnings: number]>
  /** Those of the last 24 hours; older shippers do not write it, and older readers ignore it. */
  day?: DayCounts
}

export const MINUTE_MS = 60_000
export const COUNTED_MINUTES = 60
/** How many logs are counted: at most 300 KB of a heartbeat for the last hour, and 250 KB for the last day. */
export const MOST_COUNTED = 300

export interface LeftFile {
  name: string
  reason: string
}

/** `ship.json`: a heartbeat, with hints for readers. Readers also work without it. */
export interface Heartbeat {
  host: string
  /** Changes with each start. */
  run: string
  /** The shipper's process on its host; null if it is not known. */
  pid: number | null
  version: string
  /** The layout that it writes; 0 if it does not say. */
  layout: number
  /** Whether the shipper has ended, with nothing under way. */
  stopped: boolean
  /** The node object, as in `node.json`; null when it is not known. */
  node: Record<string, unknown> | null
  logs: Record<string, ShippedLog>
  /** The lives without an end, by log. */
  open: Record<string, number[]>
  /** Files that are not or not completely in the bucket yet, and their bytes. */
  waitingFiles: number
  waitingBytes: number
  /** How many files cannot be shipped, and the first of them. */
  leftFiles: number
  left: LeftFile[]
  /** Errors and warnings by log; absent if they are not counted. */
  counts?: Record<string, LogCounts>
  /** Why the shipper is stuck; null when it is not. */
  error: string | null
}

/** A larger one is not read. With 1,000 logs it has about 100 KB. */
export const LARGEST_HEARTBEAT = 1024 * 1024

/** How long readers trust the sizes in it, by the storage's clock. */
export const HEARTBEAT_FRESH_MS = 90_000

/** How many lives without an end, and how many files that are left, a heartbeat names. */
export const MOST_OPEN = 50
export const MOST_LEFT = 100

/** Parses a heartbeat. Missing or mistyped parts are left out; null if it is not a heartbeat at all. */
export function parseHeartbeat(text: string): Heartbeat | null {
  let value: unknown
  try {
    value = parseShallow(text)
  } catch {
    return null
  }
  if (!isObject(value) || typeof value.host !== 'string' || typeof value.run !== 'string') return null
  const logs = emptyRecord<ShippedLog>()
  for (const [name, log] of Object.entries(isObject(value.logs) ? value.logs : {})) {
    if (!isObject(log) || !isCount(log.life) || log.life < 1 || !isCount(log.size)) continue
    const lagBytes = isCount(log.lagBytes) ? log.lagBytes : 0
    const lagSeconds = isSeconds(log.lagSeconds) ? log.lagSeconds : 0
    logs[name] = { life: log.life, size: log.size, lagBytes, lagSeconds }
  }
  return {
    host: value.host,
    run: value.run,
    pid: isCount(value.pid) ? value.pid : null,
    version: typeof value.version === 'string' ? value.version : '',
    layout: isCount(value.layout) ? value.layout : 0,
    stopped: value.stopped === true,
    node: isObject(value.node) ? value.node : null,
    logs,
    open: livesOf(isObject(value.open) ? value.open : {}),
    waitingFiles: isCount(value.waitingFiles) ? value.waitingFiles : 0,
    waitingBytes: isCount(value.waitingBytes) ? value.waitingBytes : 0,
    leftFiles: isCount(value.leftFiles) ? value.leftFiles : 0,
    left: Array.isArray(value.left) ? value.left.filter(isLeft).slice(0, MOST_LEFT) : [],
    ...(isObject(value.counts) && { counts: countsOf(value.counts) }),
    error: typeof value.error === 'string' ? value.error : null,
  }
}

function countsOf(counts: Record<string, unknown>): Record<string, LogCounts> {
  const found = emptyRecord<LogCounts>()
  for (const [name, log] of Object.entries(counts).slice(0, MOST_COUNTED)) {
    if (!isObject(log)) continue
    const minutes = emptyRecord<readonly [number, number]>()
    for (const [minute, count] of Object.entries(isObject(log.minutes) ? log.minutes : {})) {
      const [errors, warnings] = Array.isArray(count) ? count : []
      if (MINUTE.test(minute) && isCount(errors) && isCount(warnings)) minutes[minute] = [errors, warnings]
    }
    const lastLine = isInstant(log.lastLine) ? log.lastLine : null
    found[name] = { lastLine, minutes, ...(isDay(log.day) && { day: log.day }) }
  }
  return found
}

function isDay(value: unknown): value is DayCounts {
  if (!isObject(value) || !isCount(value.from) || !MINUTE.test(String(value.from))) return false
  const { step, text } = value
  return isCount(step) && step >= 1 && step <= DAY_MINUTES && typeof text === 'string'
}

const MINUTE = /^\d{1,9}$/
/** Beyond it, a number of milliseconds is not a date, and a client that writes it as one fails. */
const LAST_INSTANT = 8.64e15

function isInstant(value: unknown): value is number {
  return isCount(value) && value <= LAST_INSTANT
}

/** Without what every object has: a log may be called `constructor`, and a hostile one `__proto__`. */
function emptyRecord<T>(): Record<string, T> {
  return Object.create(null)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A fraction is valid; what JSON reads as infinite is not. */
function isSeconds(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function livesOf(open: Record<string, unknown>): Record<string, number[]> {
  const lives = (value: unknown) => (Array.isArray(value) ? value.filter(isLife).slice(0, MOST_OPEN) : [])
  const found = emptyRecord<number[]>()
  for (const [log, value] of Object.entries(open)) found[log] = lives(value)
  return found
}

function isLife(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value !== 0
}

function isLeft(value: unknown): value is LeftFile {
  return isObject(value) && typeof value.name === 'string' && typeof value.reason === 'string'
}
