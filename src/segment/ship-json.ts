import { parseShallow } from '../limits/shallow-json.ts'

/** What a shipper reports about one log. */
export interface ShippedLog {
  life: number
  /** Bytes of that life in the bucket. */
  size: number
  /** Bytes that are only on disk. */
  lagBytes: number
  /** How long the oldest of them have been waiting. */
  lagSeconds: number
}

/** `ship.json`: a heartbeat, with hints for readers. Readers also work without it. */
export interface Heartbeat {
  host: string
  /** Changes with each start. */
  run: string
  /** The shipper's version. */
  version: string
  /** The node object, as in `node.json`; null when it is not known. */
  node: Record<string, unknown> | null
  logs: Record<string, ShippedLog>
  /** Why the shipper is stuck; null when it is not. */
  error: string | null
}

/** A larger one is not read. With 1,000 logs it has about 100 KB. */
export const LARGEST_HEARTBEAT = 1024 * 1024

/** How long readers trust the sizes in it, by the storage's clock. */
export const HEARTBEAT_FRESH_MS = 90_000

/** Parses a heartbeat. Missing or mistyped parts are left out; null if it is not a heartbeat at all. */
export function parseHeartbeat(text: string): Heartbeat | null {
  let value: unknown
  try {
    value = parseShallow(text)
  } catch {
    return null
  }
  if (!isObject(value) || typeof value.host !== 'string' || typeof value.run !== 'string') return null
  const logs: Record<string, ShippedLog> = {}
  for (const [name, log] of Object.entries(isObject(value.logs) ? value.logs : {})) {
    if (!isObject(log) || !isCount(log.life) || log.life < 1 || !isCount(log.size)) continue
    const lagBytes = isCount(log.lagBytes) ? log.lagBytes : 0
    const lagSeconds = typeof log.lagSeconds === 'number' && log.lagSeconds >= 0 ? log.lagSeconds : 0
    logs[name] = { life: log.life, size: log.size, lagBytes, lagSeconds }
  }
  return {
    host: value.host,
    run: value.run,
    version: typeof value.version === 'string' ? value.version : '',
    node: isObject(value.node) ? value.node : null,
    logs,
    error: typeof value.error === 'string' ? value.error : null,
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
