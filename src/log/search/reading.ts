import type { Clock } from '../../kit/limits/clock.ts'
import type { Lease, MemoryBudget } from '../../kit/limits/memory-budget.ts'

/** How a log is read, which depends on the store and the runtime. */
export interface Reading {
  /** Bytes per read. */
  chunk: number
  clock: Clock
  /** Whether reads into WebAssembly's memory are fastest when it is shared; see Scanner. @default false */
  sharedMemory?: boolean
  /** How many reads run in parallel. @default 1 */
  parallel?: number
  /** Bytes that answers and the reads beyond `FREE_READS` share. @default no limit */
  memory?: number
}

/** How many chunks one read has at most: by then it takes longer than its round trip, and its request costs little. */
const LARGEST_READ = 8

/** How much of a chunk may belong to the record before it without a second read. */
export const SLACK = 64 * 1024

/** Where parallel reads pay off, a scan that continues begins with this many. */
export const FIRST_WINDOW = 4

/** How many reads always have memory. */
export const FREE_READS = 4
/** The share of the memory that the others may take: the rest is for answers, and for the garbage of earlier reads. */
const READ_SHARE = 0.5
/** The share by which the size of a read is chosen. */
const SIZE_SHARE = 0.8

/** Memory for the reads of a scan; it ends where that for answers begins. */
export function leaseForReads(memory: MemoryBudget | undefined): Lease | null {
  const lease = memory?.lease(0)
  if (!memory || !lease) return null
  const grow = (bytes: number) => memory.used + bytes <= READ_SHARE * memory.total && lease.grow(bytes)
  return { ...lease, grow }
}

/** The size of a read over a network once a scan continues: as large as memory for all of them allows. */
export function remoteChunk({ chunk, parallel = 1, memory = Number.POSITIVE_INFINITY }: Reading): number {
  // Two more than run in parallel: while one is examined, the next read begins before the last one's memory is free.
  const counted = Math.max(1, parallel + 2 - FREE_READS)
  const most = (SIZE_SHARE * memory) / counted - SLACK
  return chunk * Math.max(1, Math.min(LARGEST_READ, Math.floor(most / chunk)))
}
