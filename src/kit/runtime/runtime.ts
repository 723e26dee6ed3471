/** What a runtime reports about its process; null if it cannot. */
export interface ProcessFacts {
  /** Seconds since the Unix epoch. */
  started: number
  residentBytes(): number | null
  cpuSeconds(): number | null
  openDescriptors(): number | null
  maxDescriptors(): number | null
  /** How late the event loop was since the last scrape: percentiles, in seconds. */
  eventLoopDelay(): { percentile: number; seconds: number }[] | null
}

/** What a runtime can tell about itself and its machine. `#runtime` is the one that the code runs on. */
export interface Runtime {
  name: string
  /** The name and the address of the machine, as far as they are known. */
  host(): { hostName?: string | undefined; hostIp?: string | undefined }
  /** Starts watching the process; null where there is none to speak of. */
  process(): ProcessFacts | null
}
