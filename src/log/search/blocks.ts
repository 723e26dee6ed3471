/** The largest piece of memory that what a search finds is put into. */
export const BLOCK = 8 * 1024 * 1024
/** So many wait for their next use, and so long. */
const MOST = 8
const IDLE_MS = 10_000

let waiting: Uint8Array<ArrayBuffer>[] = []
let timer: ReturnType<typeof setTimeout> | undefined

/**
 * Memory of BLOCK bytes, whatever is in it. Fresh memory takes a sixth of a search with many hits: the machine has to
 * find it, and the collector runs for every few pieces.
 */
export function takeBlock(): Uint8Array<ArrayBuffer> {
  return waiting.pop() ?? new Uint8Array(BLOCK)
}

/** Gives a block back that nobody looks at any more; anything else is left to the collector. */
export function giveBack({ buffer }: Uint8Array): void {
  if (buffer.byteLength !== BLOCK || waiting.length >= MOST) return
  waiting.push(new Uint8Array(buffer as ArrayBuffer))
  clearTimeout(timer)
  timer = setTimeout(() => {
    waiting = []
  }, IDLE_MS)
  // Where there is such a thing, it must not keep the process alive.
  ;(timer as { unref?: () => void }).unref?.()
}
