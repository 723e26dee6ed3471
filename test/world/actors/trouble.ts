import type { Step } from '../plan.ts'
import type { Actor } from './actor.ts'

interface Trouble extends Step {
  /** Milliseconds. */
  for: number
  /** How far the clock steps, in milliseconds. */
  by_ms: number
  /** Which part of the calls fails, from 0 to 1. */
  part: number
  /** Bytes that still fit. */
  left: number
}

/** A copy of this many bytes is known by its text, however old it is. */
const KNOWN_BYTES = 4096

/** What goes wrong with the disk and the clock. Trouble of the bucket belongs to the actors that use it. */
export const trouble: Actor = {
  changes: true,
  plan({ random, settings, add, moment }) {
    const files = random.split('files')
    for (const { name } of settings.logs)
      if (files.chance(0.15)) add(name, 'deny', moment(files), { for: files.small(10, 5_000) })
    const directory = random.split('directory')
    if (directory.chance(0.08))
      add('directory', 'deny-all', moment(directory), { for: directory.small(10, 5_000) })
    const flaky = random.split('flaky')
    if (flaky.chance(0.15))
      add('flaky', 'fail', moment(flaky), {
        for: flaky.small(100, 20_000),
        part: flaky.pick([0.05, 0.3]),
      })
    const full = random.split('full')
    if (full.chance(0.08))
      add('full', 'fill', moment(full), { for: full.small(10, 5_000), left: full.small(0, 2_000) })
    const clock = random.split('clock')
    if (clock.chance(0.2)) add('clock', 'step', moment(clock), { by_ms: clock.small(10, 3_600_000) })
  },
  async act(world, step) {
    const { for: ms, by_ms: by, part, left } = step as Trouble
    const name = step.by.split(' ')[1]!
    if (step.does === 'step') {
      // A short log is copied and truncated within a millisecond: nobody sets a clock just then. In a world it may take
      // seconds, because a rotator waits until no line is half written.
      while (world.logs.some(({ copy }) => copy !== null && copy.size < KNOWN_BYTES))
        await world.kernel.sleep(1)
      return world.kernel.step(by)
    }
    if (step.does === 'fail')
      return world.trouble('the disk fails now and then', ms, () => {
        world.disk.failing = part
        return () => {
          world.disk.failing = 0
        }
      })
    if (step.does === 'fill')
      return world.trouble('the disk is full', ms, () => {
        world.disk.capacity = world.disk.used + left
        return () => {
          world.disk.capacity = Number.POSITIVE_INFINITY
        }
      })
    if (step.does === 'deny')
      return world.trouble(`${name} is denied`, ms, () => {
        const isThere = world.disk.all.includes(name)
        if (isThere) world.disk.allow(name, false)
        // It may have been renamed meanwhile: the file is the same.
        const inode = world.disk.inodeOf(name)
        return () => {
          for (const other of world.disk.all)
            if (world.disk.inodeOf(other) === inode) world.disk.allow(other, true)
        }
      })
    return world.trouble('the directory is denied', ms, () => {
      world.disk.isReadable = false
      return () => {
        world.disk.isReadable = true
      }
    })
  },
}
