/** Waits for `done`, but no longer than `ms`: then `cut` ends what still runs. */
export async function within(ms: number, done: Promise<unknown>, cut: () => unknown): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(async () => {
      await cut()
      resolve()
    }, ms)
  })
  await Promise.race([done, late])
  clearTimeout(timer)
}
