/**
 * Works on all items, at most `atOnce` at a time, started in order. The first failure starts nothing more and is thrown;
 * so does a `work` that returns false, for instance because the budget is spent. Returns whether every item was done.
 */
export async function each<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T, index: number) => Promise<unknown>,
): Promise<boolean> {
  let next = 0
  let isComplete = true
  const stop = () => {
    next = items.length
  }
  const worker = async () => {
    try {
      while (next < items.length) {
        const index = next++
        if ((await work(items[index]!, index)) !== false) continue
        isComplete = false
        stop()
      }
    } catch (error) {
      stop()
      throw error
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker))
  return isComplete
}
