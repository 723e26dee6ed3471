/** What a shipper says of one log. */
export interface ShippedLog {
  life: number
  /** Bytes of that life in the bucket. */
  size: number
  /** Bytes that are on disk only. */
  lagBytes: number
  /** How long the oldest of them has waited. */
  lagSeconds: number
}

/** `ship.json`: a sign of life, and hints for readers. Nothing is wrong without it. */
export interface Heartbeat {
  host: string
  /** Changes with each start. */
  run: string
  /** Of the shipper. */
  version: string
  /** The node object, as in `node.json`; null when it is not known. */
  node: Record<string, unknown> | null
  logs: Record<string, ShippedLog>
  /** What stands in the shipper's way; null when nothing does. */
  error: string | null
}

/** How long readers take the sizes in it as right, by the storage's clock. */
export const HEARTBEAT_FRESH_MS = 90_000

/** Reads a heartbeat. What is missing or of the wrong kind is left out; null when it is no heartbeat at all. */
export function parseHeartbeat(text: string): Heartbeat | null {
  let value: unknown
  try {
    value = JSON.parse(text)
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
