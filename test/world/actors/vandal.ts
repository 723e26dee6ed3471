import type { Actor } from './actor.ts'

/** Appends a line that no writer wrote, and tells nobody. No world has one by itself: it shows that the rules see it. */
export const vandal: Actor = {
  changes: true,
  act(world, step) {
    const file = world.disk.openToWrite(world.logOf(step).name)
    file.append(new TextEncoder().encode('2026-11-15 02:00:00.000\tINFO\ta.go:1\t[A] [B]: <9-9> forged\n'))
    file.close()
    world.note('a line is forged')
  },
}
