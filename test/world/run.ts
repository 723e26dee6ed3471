import { ACTORS } from './actors/index.ts'
import { Stuck } from './kernel/kernel.ts'
import type { Plan, Step } from './plan.ts'
import { RULES } from './rules/index.ts'
import { World } from './world.ts'

export interface Result {
  seed: number
  /** What broke, one line each; empty when the world is right. */
  broken: string[]
  history: string[]
  events: number
}

/** Virtual time for a world to become calm after its last step, and to end after that. */
const CALM = 300_000
const END = 60_000

/** Lets a world happen: its steps, then calm, the rules of calm, the end, and the rules of the end. */
export async function runWorld(plan: Plan, isTraced = false): Promise<Result> {
  const world = new World(plan, isTraced)
  const { kernel } = world
  const unhandled = (reason: unknown) =>
    world.break('nothing held', `an unhandled rejection: ${String((reason as Error)?.stack ?? reason)}`)
  process.on('unhandledRejection', unhandled)
  try {
    await until(world, 'the steps', plan.settings.length + CALM, stepsOf(world))
    for (const rule of RULES) if (rule.calm) await until(world, rule.name, CALM, rule.calm(world))
    for (const close of world.closers.reverse()) await until(world, 'the end', END, (async () => close())())
    // What lingers for a moment, such as a hub without followers, ends by itself.
    await until(world, 'the end', END, kernel.sleep(10_000))
    for (const rule of RULES) rule.end?.(world)
  } catch (error) {
    if (error instanceof Stuck) world.break('it ends', error.message)
    else world.break('no error', String((error as Error).stack ?? error))
  } finally {
    process.off('unhandledRejection', unhandled)
  }
  const broken = world.broken.map(({ message }) => message)
  return { seed: plan.seed, broken, history: kernel.history, events: kernel.events }
}

/** Lets things happen until some work is done, within virtual time. */
async function until(world: World, what: string, ms: number, work: Promise<unknown>): Promise<void> {
  let isDone = false
  let failure: unknown = null
  world.kernel
    .waits(what, work)
    .catch((error) => {
      failure = error
    })
    .finally(() => {
      isDone = true
    })
  await world.kernel.run(() => isDone, world.kernel.elapsed() + ms)
  if (failure !== null) throw failure
}

/** All steps, each at its time; those of one actor one after the other. */
async function stepsOf(world: World): Promise<void> {
  const byActor = new Map<string, Step[]>()
  for (const step of world.plan.steps) {
    const own = byActor.get(step.by) ?? []
    byActor.set(step.by, own)
    own.push(step)
  }
  await Promise.all(
    [...byActor].map(async ([by, steps]) => {
      const actor = ACTORS[by.split(' ')[0]!]!
      for (const step of steps.sort((a, b) => a.at - b.at)) {
        await world.kernel.sleep(Math.max(0, step.at - world.kernel.elapsed()))
        const act = async () => actor.act(world, step)
        await world.kernel.waits(`${by} (${step.does})`, actor.changes ? world.change(act) : act())
      }
    }),
  )
}
