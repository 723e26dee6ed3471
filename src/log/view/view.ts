import type { Budget } from '../../limits/budget.ts'
import { yieldToEventLoop } from '../../limits/yield.ts'
import { openLog } from '../joined/open.ts'
import { firstReach, needsMore, widerReach } from '../joined/reach.ts'
import type { Opener } from '../rotated/open.ts'
import type { View } from './answer.ts'
import { budgetOf, runInSlot, type ViewContext } from './context.ts'
import { selectAround } from './holes.ts'
import { isSearch, mayUnpack, prefetchOf, searchesBack, type ViewRequest } from './request.ts'
import { stateOf, withRetries } from './retry.ts'
import { select } from './select.ts'

/** Selects a part of a log. */
export async function viewOf(
  context: ViewContext,
  request: ViewRequest,
  signal?: AbortSignal,
): Promise<View> {
  return (await viewIfChanged(context, request, () => false, signal))!
}

/**
 * Selects a part of a log; null when the client already has it: `isKnown` gets the state of the files before anything
 * is scanned. A file that is rotated meanwhile is looked up again.
 */
export async function viewIfChanged(
  context: ViewContext,
  request: ViewRequest,
  isKnown: (state: string) => boolean,
  signal?: AbortSignal,
): Promise<View | null> {
  const { archives, files } = context
  const unpacks = mayUnpack(request)
  let claims = searchesBack(request)
  // Each search of a directory starts in a turn of its own: a tail would wait for thirty that start together.
  if (files.isNear && isSearch(request)) await yieldToEventLoop()
  const look = async () => {
    const budget = budgetOf(context, signal)
    const unpacking: Opener['unpacking'] =
      archives && !unpacks ? (job) => runInSlot(archives, budget, job) : undefined
    const opener = { ...context, unpacking, claims }
    // A claim may turn out to be false: without claims, the next attempt is right.
    claims = false
    return viewWithin(opener, request, isKnown, budget)
  }
  return withRetries({ files, file: request.file, signal }, () =>
    archives && unpacks ? archives.run(look, signal) : look(),
  )
}

/** Looks as far back into a joined log as it takes, or as the budget allows. Any other log is open as a whole. */
async function viewWithin(
  context: ViewContext & Pick<Opener, 'unpacking' | 'claims'>,
  request: ViewRequest,
  isKnown: (state: string) => boolean,
  budget: Budget,
): Promise<View | null> {
  for (let reach = firstReach(request); ; reach = widerReach(reach)) {
    const log = await openLog({ ...context, budget }, request, prefetchOf(request), reach)
    if (isKnown(stateOf(log.series))) return null
    const view = await selectAround(log, request, (log) => select(context, log, request, budget))
    if (context.claims) await settle(view)
    if (!(await needsMore(request, view, context.zone))) return view
    if (!reach.isWidest && !budget.isSpent) continue
    if (!view.notes.includes('scan-budget')) view.notes.push('scan-budget')
    return view
  }
}

/** Proves the sizes that the answer relies on. A search that was cut short relies on none. */
async function settle({ series, notes, memory }: View): Promise<void> {
  if (notes.includes('scan-budget')) return
  try {
    await series.settle()
  } catch (error) {
    memory?.release()
    throw error
  }
}
