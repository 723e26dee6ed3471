import { printable, show } from './shown.ts'
import type { World } from './world.ts'

const FRAMES = [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'].map(printable)
/** Shorter work shows no progress. */
const DELAY_MS = 300

/** Shows progress on stderr if that is a terminal, and removes it. */
export async function withSpinner<T>(world: World, label: string, work: () => Promise<T>): Promise<T> {
  if (!world.stderr.isTTY || world.progress === false) return work()
  let frame = 0
  let shown = false
  const start = Date.now()
  const timer = setInterval(() => {
    if (Date.now() - start < DELAY_MS) return
    shown = true
    void world.stderr.write(
      show`\r${FRAMES[frame++ % FRAMES.length]!} ${printable(label.replaceAll('\n', ' '))}`,
    )
  }, 100)
  try {
    return await work()
  } finally {
    clearInterval(timer)
    if (shown) await world.stderr.write(show`\r\x1b[K`)
  }
}
