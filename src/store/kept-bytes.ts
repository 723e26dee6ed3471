/** What has a length in bytes, in memory up to a sum of them. When it is full, the least recently used is dropped. */
export class KeptBytes<V extends { length: number }> {
  readonly #most: number
  readonly #kept = new Map<string, V>()
  #bytes = 0

  constructor(most: number) {
    this.#most = most
  }

  get(key: string): V | undefined {
    const value = this.#kept.get(key)
    if (value) {
      this.#kept.delete(key)
      this.#kept.set(key, value)
    }
    return value
  }

  set(key: string, value: V): void {
    if (value.length > this.#most || this.#kept.has(key)) return
    this.#kept.set(key, value)
    this.#bytes += value.length
    for (const [oldest, { length }] of this.#kept) {
      if (this.#bytes <= this.#most) return
      this.#kept.delete(oldest)
      this.#bytes -= length
    }
  }
}
