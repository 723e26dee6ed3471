import { type Lease, MemoryBudget } from './memory-budget.ts'

const KIB = 1024
const MIB = 1024 * KIB

/**
 * Slices of answers that their clients have not taken yet, over the whole process. A crowd that never reads would
 * otherwise hold half a megabyte each; with this, 2,000 of them hold 16 KiB each, and 16 MiB besides.
 */
const waiting = new MemoryBudget(16 * MIB)
/** Beyond this, slices are smaller. */
const CROWDED = 8 * MIB
const SMALLER = 64 * KIB
const SMALLEST = 16 * KIB

/** Whether a new answer should not hold this much, because many others wait for their clients. */
export function isCrowded(bytes: number): boolean {
  return bytes > SMALLEST && waiting.used + bytes > CROWDED
}

/** Bytes that slices hold now, over the whole process. */
export function heldBySlices(): number {
  return waiting.used
}

export class SliceMemory {
  #lease: Lease | null = null
  #held = 0

  /** Bytes for the next slice: `most`, or less in a crowd. What the last slice held is returned. */
  take(most: number): number {
    this.release()
    if (!isCrowded(most) && this.#grow(most)) return most
    if (most > SMALLER && this.#grow(SMALLER)) return SMALLER
    return Math.min(most, SMALLEST)
  }

  /** Counts bytes that are already held, whatever the crowd. False, and nothing counted, beyond what all may hold. */
  hold(bytes: number): boolean {
    this.release()
    return this.#grow(bytes)
  }

  /** Returns what the slice holds. Safe to call twice. */
  release(): void {
    this.#lease?.shrink(this.#held)
    this.#held = 0
  }

  #grow(bytes: number): boolean {
    if (this.#lease === null) {
      this.#lease = waiting.lease(0)!
      this.#lease.tieTo(this)
    }
    if (!this.#lease.grow(bytes)) return false
    this.#held = bytes
    return true
  }
}
