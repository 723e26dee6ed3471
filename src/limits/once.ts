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

/** Concurrent callers for the same key share one run of the work. */
export class SharedWork<T> {
  readonly #running = new Map<string, Promise<T>>()

  run(key: string, work: () => Promise<T>): Promise<T> {
    const running = this.#running.get(key) ?? work().finally(() => this.#running.delete(key))
    this.#running.set(key, running)
    return running
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
