import type { Draft, Step } from '../plan.ts'
import type { World } from '../world.ts'

/** A kind of actor. Its steps are data (`plan`); each is done when its time has come (`act`). */
export interface Actor {
  /** Whether its steps change logs: they then wait for the end of a still moment. */
  changes?: boolean
  /** Draws what the actors of this kind will do. @default nothing: the world does it by itself */
  plan?(draft: Draft): void
  /** Does one step. The next one of the same actor waits until it is done. */
  act(world: World, step: Step): Promise<void> | void
}
