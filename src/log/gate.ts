import { LogError } from './error.ts'

/** Lets only so many through at once; so many more wait in line, and the rest is turned away. */
export interface Gate {
  run<T>(work: () => Promise<T>): Promise<T>
}

/** A gate for `most` at once. Past so many waiting, four times as many by default, it is a LogError `too-busy`. */
export function gate(most: number, what: string, queue = most * 4): Gate {
  let running = 0
  const waiting: (() => void)[] = []
  return {
    async run(work) {
      if (running >= most) {
        if (waiting.length >= queue)
          throw new LogError('too-busy', `Too many ${what} are running; try again in a few seconds.`)
        await new Promise<void>((resolve) => waiting.push(resolve))
      } else running++
      try {
        return await work()
      } finally {
        // The place goes to the next in line without being given up between.
        const next = waiting.shift()
        if (next) next()
        else running--
      }
    },
  }
}
