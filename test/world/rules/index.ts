import { budgets } from './budgets.ts'
import { caughtUp } from './caught-up.ts'
import { fleet } from './fleet.ts'
import { home } from './home.ts'
import { nothingHeld } from './nothing-held.ts'
import type { Rule } from './rule.ts'
import { shipped } from './shipped.ts'
import { tokens } from './tokens.ts'

/** Rules about a world as a whole, in the order in which they are checked. */
export const RULES: readonly Rule[] = [shipped, fleet, home, tokens, budgets, caughtUp, nothingHeld]
