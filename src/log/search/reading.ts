/** How a log is read, which depends on the store and the runtime. */
export interface Reading {
  /** Bytes per read. */
  chunk: number
  /** Whether reads into WebAssembly's memory are fastest when it is shared; see Scanner. @default false */
  sharedMemory?: boolean
  /** How many reads run in parallel. @default 1 */
  parallel?: number
}

/** How many chunks are requested in parallel over a network: a read should take longer than a round trip. */
const REMOTE_CHUNKS = 80
/** How many chunks one read has at most. */
const LARGEST_READ = 5

/** The size of a read over a network once a scan continues. */
export function remoteChunk({ chunk, parallel = 1 }: Reading): number {
  return chunk * Math.max(1, Math.min(LARGEST_READ, Math.floor(REMOTE_CHUNKS / parallel)))
}
