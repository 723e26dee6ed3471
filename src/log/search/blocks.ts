import { afterInBackground, type Clock } from '../../limits/clock.ts'

/** The size of the largest block that search results are collected in. */
export const BLOCK = 8 * 1024 * 1024
/** How many blocks are kept for reuse at most, and for how long. */
const MAX_IDLE = 8
const IDLE_MS = 10_000
/** How much of the memory for answers they may take. */
const IDLE_SHARE = 1 / 8
let mostIdle = MAX_IDLE

let idle: Uint8Array<ArrayBuffer>[] = []
let cancel = () => {}

/**
 * A block of BLOCK bytes with arbitrary content. Allocating each one costs a sixth of a search with many hits:
 * the pages must be mapped, and the collector runs for every few blocks.
 */
export function takeBlock(): Uint8Array<ArrayBuffer> {
  return idle.pop() ?? new Uint8Array(BLOCK)
}

/** Returns a block that is no longer in use; anything else is left to the collector. The last caller's clock decides. */
export function giveBack({ buffer }: Uint8Array, clock: Clock): void {
  if (buffer.byteLength !== BLOCK || idle.length >= mostIdle) return
  idle.push(new Uint8Array(buffer as ArrayBuffer))
  cancel()
  cancel = afterInBackground(clock, IDLE_MS, () => {
    idle = []
  })
}

/** Tells how much memory the process has for answers: with little of it, fewer blocks are kept for reuse. */
export function limitBlocks(answers: number): void {
  mostIdle = Math.min(MAX_IDLE, Math.floor((answers * IDLE_SHARE) / BLOCK))
}
