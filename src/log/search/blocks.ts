import { BufferPool } from '../../kit/bytes.ts'
import { afterInBackground, type Clock } from '../../kit/limits/clock.ts'

/** The size of the largest block that search results are collected in. */
export const BLOCK = 8 * 1024 * 1024
/** How many blocks are kept for reuse at most, and for how long. */
const MAX_IDLE = 8
const IDLE_MS = 10_000
/** How much of the memory for answers they may take. */
const IDLE_SHARE = 1 / 8

/**
 * Allocating each block costs a sixth of a search with many hits: the pages must be mapped, and the collector runs for
 * every few blocks.
 */
const blocks = new BufferPool(BLOCK, MAX_IDLE)
let cancel = () => {}

/** A block of BLOCK bytes with arbitrary content. */
export function takeBlock(): Uint8Array<ArrayBuffer> {
  return blocks.take()
}

/** Returns a block that is no longer in use; anything else is left to the collector. The last caller's clock decides. */
export function giveBack(block: Uint8Array, clock: Clock): void {
  if (!blocks.give(block)) return
  cancel()
  cancel = afterInBackground(clock, IDLE_MS, () => blocks.clear())
}

/** Tells how much memory the process has for answers: with little of it, fewer blocks are kept for reuse. */
export function limitBlocks(answers: number): void {
  blocks.most = Math.min(MAX_IDLE, Math.floor((answers * IDLE_SHARE) / BLOCK))
}
