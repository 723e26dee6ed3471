import type { Plan, Step } from './plan.ts'
import { runWorld } from './run.ts'

/** Worlds that one shrinking may run. */
const MOST_RUNS = 400

/** The rule that a message is about. */
function ruleOf(message: string): string {
  return message.slice(0, message.indexOf(':'))
}

/** The fewest steps, and the smallest of them, that break the same rule. */
export async function shrink(plan: Plan, broken: string): Promise<Plan> {
  const rule = ruleOf(broken)
  let runs = 0
  let best = plan
  const fails = async (steps: Step[]): Promise<boolean> => {
    if (runs++ >= MOST_RUNS) return false
    const result = await runWorld({ ...best, steps })
    const isSame = result.broken.some((message) => ruleOf(message) === rule)
    if (isSame) best = { ...best, steps }
    return isSame
  }
  // All steps of an actor at once, then ever smaller parts of what is left (delta debugging).
  for (const by of new Set(plan.steps.map((step) => step.by)))
    await fails(best.steps.filter((step) => step.by !== by))
  for (let part = Math.ceil(best.steps.length / 2); part >= 1; part = part === 1 ? 0 : Math.ceil(part / 2))
    for (let from = 0; from < best.steps.length; ) {
      const isLess = await fails([...best.steps.slice(0, from), ...best.steps.slice(from + part)])
      if (!isLess) from += part
    }
  for (const { id } of best.steps) await smaller(id, () => best.steps, fails)
  return best
}

/** Tries smaller numbers for one step: counts, sizes and times in it. */
async function smaller(
  id: number,
  steps: () => Step[],
  fails: (steps: Step[]) => Promise<boolean>,
): Promise<void> {
  const step = () => steps().find((one) => one.id === id)!
  for (const name of Object.keys(step())) {
    if (name === 'id' || name === 'at') continue
    for (;;) {
      const value = step()[name]
      if (typeof value !== 'number' || !Number.isInteger(value) || value < 2) break
      const less = { ...step(), [name]: Math.floor(value / 2) }
      if (!(await fails(steps().map((one) => (one.id === id ? less : one))))) break
    }
  }
}
