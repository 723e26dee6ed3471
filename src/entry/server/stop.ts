/** Waits for `done`, but no longer than `ms`: then `cut` ends what is still running. Returns whether that was needed. */
export async function within(ms: number, done: Promise<unknown>, cut: () => unknown): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(async () => {
      await cut()
      resolve(true)
    }, ms)
  })
  const wasCut = await Promise.race([done.then(() => false), late])
  clearTimeout(timer)
  return wasCut
}
