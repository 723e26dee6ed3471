/** The size of the largest block that search results are collected in. */
export const BLOCK = 8 * 1024 * 1024
/** How many blocks are kept for reuse, and for how long. */
const MAX_IDLE = 8
const IDLE_MS = 10_000

let idle: Uint8Array<ArrayBuffer>[] = []
let timer: ReturnType<typeof setTimeout> | undefined

/**
 * A block of BLOCK bytes with arbitrary content. Allocating each one costs a sixth of a search with many hits:
 * the pages must be mapped, and the collector runs for every few blocks.
 */
export function takeBlock(): Uint8Array<ArrayBuffer> {
  return idle.pop() ?? new Uint8Array(BLOCK)
}

/** Returns a block that is no longer in use; anything else is left to the collector. */
export function giveBack({ buffer }: Uint8Array): void {
  if (buffer.byteLength !== BLOCK || idle.length >= MAX_IDLE) return
  idle.push(new Uint8Array(buffer as ArrayBuffer))
  clearTimeout(timer)
  timer = setTimeout(() => {
    idle = []
  }, IDLE_MS)
  // If the runtime supports it, this timer must not keep the process alive.
  ;(timer as { unref?: () => void }).unref?.()
}
