/** How a log is read, which depends on the store and the runtime. */
export interface Reading {
  /** Bytes per read. */
  chunk: number
  /** Whether reads into WebAssembly's memory are fastest when it is shared; see Scanner. @default false */
  sharedMemory?: boolean
  /** How many reads run in parallel. @default 1 */
  parallel?: number
  /** Bytes that all of them may take. @default no limit */
  memory?: number
}

/** How many chunks one read has at most: it then takes longer than a round trip, and costs more than its request. */
const LARGEST_READ = 8

/** How much of a chunk may belong to the record before it without a second read. */
export const SLACK = 64 * 1024

/** How many reads always have memory: the last one, the one that is examined, and the one after it. */
export const FREE_READS = 3

/** The size of a read over a network once a scan continues: as large as memory for all of them allows. */
export function remoteChunk({ chunk, parallel = 1, memory = Number.POSITIVE_INFINITY }: Reading): number {
  // Two more than run in parallel: while one is examined, the next read begins before the last one's memory is free.
  const counted = Math.max(1, parallel + 2 - FREE_READS)
  return chunk * Math.max(1, Math.min(LARGEST_READ, Math.floor(memory / counted / chunk)))
}
