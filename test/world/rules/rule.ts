import type { World } from '../world.ts'

/** Something that must hold in every world. Rules about a single answer are functions that readers call. */
export interface Rule {
  name: string
  /** Called when all steps are done and nothing changes any more. */
  calm?(world: World): Promise<void>
  /** Called when all actors have ended. */
  end?(world: World): void
}
