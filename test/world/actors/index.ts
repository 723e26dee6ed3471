import type { Actor } from './actor.ts'
import { agreement } from './agreement.ts'
import { coordinator } from './coordinator.ts'
import { follower } from './follower.ts'
import { reader } from './reader.ts'
import { rotator } from './rotator.ts'
import { shipper } from './shipper.ts'
import { trouble } from './trouble.ts'
import { vandal } from './vandal.ts'
import { writer } from './writer.ts'

/** Every kind of actor, by the first word of a step's `by`. */
export const ACTORS: Readonly<Record<string, Actor>> = {
  writer,
  rotator,
  trouble,
  shipper,
  reader,
  follower,
  agreement,
  coordinator,
  vandal,
}
