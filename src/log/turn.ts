/** Lets other work go first. A timer of 0 ms takes 1 ms where there is something quicker. */
export function nextTurn(): Promise<void> {
  const { setImmediate } = globalThis as { setImmediate?: (then: () => void) => void }
  return new Promise((resolve) => (setImmediate ? setImmediate(resolve) : setTimeout(resolve, 0)))
}
