import type { BucketFault } from '../bucket/bucket.ts'
import type { Step } from '../plan.ts'
import { Shipping, shippingOf } from '../ship/shipping.ts'
import type { Actor } from './actor.ts'

interface Ship extends Step {
  host: string
  once: boolean
  /** Milliseconds of trouble. */
  for: number
  fault: BucketFault
  /** From 0 to 1. */
  part: number
  number: number
}

/** `nodestate ship`: started, stopped, killed between any two of its calls, two at once, on another host. */
export const shipper: Actor = {
  changes: true,
  plan({ random, settings, add, moment }) {
    if (!settings.ships) return
    const own = random.split('runs')
    const isMoved = own.chance(0.15)
    for (let i = 1 + own.small(0, 10); i > 0; i--) {
      const host = isMoved ? own.pick(['a', 'b']) : 'a'
      const at = own.chance(0.3) ? Math.round(moment(own) / 10) : moment(own)
      const kind = own.weighted({ start: 6, kill: 4, stop: 2 })
      add('runs', kind, at, { host, once: own.chance(0.15) })
    }
    const bucket = random.split('bucket')
    for (let i = bucket.small(0, 3); i > 0; i--) {
      const fault = bucket.pick(['500', '503', 'late', 'lost', 'cut', 'slow'])
      const part = bucket.pick([0.1, 0.5, 1])
      add(`bucket-${i}`, 'trouble', moment(bucket), { fault, part, for: bucket.small(100, 20_000) })
    }
    const config = random.split('config')
    for (let i = config.small(0, 4); i > 0; i--) add('config', 'configure', moment(config), { number: i })
  },
  async act(world, step) {
    const ship = step as Ship
    const shipping = shippingOf(world) ?? new Shipping(world)
    world.states.set('shipping', shipping)
    const last = shipping.running.at(-1)
    if (ship.does === 'start') shipping.start(ship.host, ship.once)
    if (ship.does === 'kill' && last) shipping.kill(last)
    if (ship.does === 'stop') last?.shipper.stop()
    if (ship.does === 'configure') shipping.config = `port = ${9000 + ship.number}\n`
    if (ship.does === 'trouble')
      await world.trouble(`the bucket: ${ship.fault}`, ship.for, () => {
        const trouble = { kinds: [ship.fault], part: ship.part }
        world.bucket.troubles.add(trouble)
        return () => void world.bucket.troubles.delete(trouble)
      })
  },
}
