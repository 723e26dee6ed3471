/** Reusable memory for texts: a fresh 8 MiB for each segment would make 50 MB of garbage a second. */
export function bufferPool() {
  const free: Uint8Array<ArrayBuffer>[] = []
  return {
    take(size: number): Uint8Array<ArrayBuffer> {
      const at = free.findIndex((buffer) => buffer.length >= size)
      return at < 0 ? new Uint8Array(Math.max(size, 64 * 1024)) : free.splice(at, 1)[0]!
    },
    give(buffer: Uint8Array<ArrayBuffer>): void {
      if (free.length < 4) free.push(buffer)
    },
  }
}
