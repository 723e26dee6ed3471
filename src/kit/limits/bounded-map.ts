/** A map that drops its oldest entry when it is full: a cache with a bound. */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #most: number

  constructor(most: number) {
    super()
    this.#most = most
  }

  override set(key: K, value: V): this {
    if (this.size >= this.#most && !this.has(key)) this.delete(this.keys().next().value!)
    return super.set(key, value)
  }

  /** The value of a key, made if it is missing. It becomes the newest entry, so the least recently used one is dropped. */
  use(key: K, make: () => V): V {
    const value = this.has(key) ? this.get(key)! : make()
    this.delete(key)
    this.set(key, value)
    return value
  }
}
