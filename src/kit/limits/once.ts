/** Calls `make` when it is first needed, and again after a failure. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null
  return () => {
    made ??= make().catch((error) => {
      made = null
      throw error
    })
    return made
  }
}

/** One value for each owner, made when it is first needed. */
export function perOwner<O extends object, T>(make: (owner: O) => T): (owner: O) => T {
  const values = new WeakMap<O, T>()
  return (owner) => {
    const value = values.get(owner) ?? make(owner)
    values.set(owner, value)
    return value
  }
}

/** Concurrent callers for the same key share one run of the work; with `keeps`, later callers get its result, too. */
export class SharedWork<T, K = string> {
  readonly #runs = new Map<K, Promise<T>>()
  readonly #keeps: boolean

  constructor(keeps = false) {
    this.#keeps = keeps
  }

  run(key: K, work: () => Promise<T>): Promise<T> {
    const known = this.#runs.get(key)
    if (known) return known
    const run = this.#keeps ? work() : work().finally(() => this.#runs.delete(key))
    this.#runs.set(key, run)
    return run
  }
}

/**
 * Makes concurrent callers share the runs of `work`. A caller never gets the result of a run that began before its
 * call: it waits for the next one, together with all other waiting callers. So 16 clients cost two runs, not 16.
 */
export function sharedRun<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null
  let next: Promise<T> | null = null
  const start = (): Promise<T> => {
    const run = work().finally(() => {
      if (running === run) running = null
    })
    running = run
    return run
  }
  return () => {
    if (!running) return start()
    next ??= running
      .catch(() => {})
      .then(() => {
        next = null
        return start()
      })
    return next
  }
}
