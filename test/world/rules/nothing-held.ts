import type { Rule } from './rule.ts'

/** At the end nothing is held: handles, watchers, timers, requests. */
export const nothingHeld: Rule = {
  name: 'nothing held',
  end(world) {
    const { disk, kernel, bucket, logs } = world
    const own = logs.filter((log) => log.handle !== null).length
    if (disk.handles !== own) world.break(this.name, `${disk.handles - own} files are open`)
    if (disk.watchers > 0) world.break(this.name, `${disk.watchers} watchers`)
    const { pending } = bucket
    if (pending.length > 0)
      world.break(this.name, `${pending.length} requests to the bucket: ${pending.slice(0, 3).join('; ')}`)
    if (bucket.bodies.length > 0)
      world.break(
        this.name,
        `${bucket.bodies.length} bodies of the bucket: ${bucket.bodies.slice(0, 3).join('; ')}`,
      )
    const { timers } = kernel
    if (timers.length > 0) world.break(this.name, `${timers.length} timers: ${timers.slice(0, 3).join('; ')}`)
    const { memory, slices, scans, archives, following } = world.held()
    if (memory > 0) world.break(this.name, `${memory} bytes of leased memory`)
    if (slices > 0) world.break(this.name, `${slices} bytes of memory for slices`)
    if (scans > 0) world.break(this.name, `${scans} searches`)
    if (archives > 0) world.break(this.name, `${archives} views of archives`)
    if (following > 0) world.break(this.name, `${following} followers`)
  },
}
