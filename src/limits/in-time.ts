/** Waits for work, but no longer than `ms`; whether it was done by then. It goes on in any case. */
export async function inTime(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false)
  })
  return Promise.race([work.then(() => true), late]).finally(() => clearTimeout(timer))
}
