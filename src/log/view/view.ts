import { yieldToEventLoop } from '../../limits/yield.ts'
import { MissingBytes, StoreError } from '../../store/store.ts'
import { LogError } from '../error.ts'
import { lacksPage, pageReach, widerReach } from '../joined/reach.ts'
import { openLog } from '../open.ts'
import type { Opener, OpenLog } from '../text/open.ts'
import type { Note, View } from './answer.ts'
import { budgetOf, runInSlot, type ViewContext } from './context.ts'
import { CutLog } from './holes.ts'
import { mayUnpack, prefetchOf, searchesBack, type ViewRequest } from './request.ts'
import { stateOf, throwUnlessMoved } from './retry.ts'
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
 * is scanned.
 */
export async function viewIfChanged(
  context: ViewContext,
  request: ViewRequest,
  isKnown: (state: string) => boolean,
  signal?: AbortSignal,
): Promise<View | null> {
  // Each search of a directory starts in a turn of its own: a tail would wait for thirty that start together.
  if (context.files.isNear && !request.selection.isAll) await yieldToEventLoop()
  const find = () => findView(context, request, isKnown, signal)
  return context.archives && mayUnpack(request) ? context.archives.run(find, signal) : find()
}

/**
 * Opens a log and selects from it, until that gives an answer. A joined log is opened wider as long as something is
 * missing and the budget lasts; a hole is cut off; and after a rotation everything starts over.
 */
async function findView(
  context: ViewContext,
  request: ViewRequest,
  isKnown: (state: string) => boolean,
  signal: AbortSignal | undefined,
): Promise<View | null> {
  const prefetch = prefetchOf(request)
  const first = pageReach(request)
  let reach = first
  let opener: Opener | null = null
  let log: CutLog | null = null
  for (let retries = 0; ; ) {
    let view: View | null = null
    try {
      // If a declared size was wrong, the retry ignores declared sizes.
      opener ??= openerOf(context, request, signal, retries === 0)
      if (log === null) {
        const opened = await openLog(opener, request, prefetch, reach)
        if (isKnown(stateOf(opened.series))) return null
        log = new CutLog(opened, request)
      }
      view = await log.finish(await select(context, log.open, request, opener.budget))
      // A search that was cut short relies on no size.
      const reliesOnSizes = opener.trustDeclaredSize && !view.notes.includes('scan-budget')
      if (reliesOnSizes) await view.series.verifySizes()
      if (!(await lacksPage(request, log.open, view, context.zone)))
        return log.isWhole ? { ...view, more: moreOf(log.open, view, opener) } : view
      if (opener.budget.isSpent) return await withBudgetNote(view)
      view.memory?.release()
      reach = widerReach(reach, log.open)
      log = null
    } catch (error) {
      view?.memory?.release()
      if (error instanceof MissingBytes && log) {
        await log.cut(error)
        continue
      }
      await throwUnlessMoved(error, retries++, { files: context.files, file: request.file, signal })
      opener = null
      reach = first
      log = null
    }
  }
}

/** How an open log is read on from where a view ends. */
function moreOf(log: OpenLog, { from, to }: View, opener: Opener): NonNullable<View['more']> {
  return async (context, request) => {
    const { direction, place } = request.cursor!
    const open = { ...log, at: direction === 'after' ? to : from, isStart: !place.splitsRecord }
    let view: View | null = null
    try {
      const cut = new CutLog(open, request)
      view = await cut.finish(await select(context, open, request, opener.budget))
      if (opener.trustDeclaredSize && !view.notes.includes('scan-budget')) await view.series.verifySizes()
      if (!(await lacksPage(request, open, view, context.zone)))
        return { ...view, more: moreOf(log, view, opener) }
    } catch (error) {
      // Whatever is wrong with the files shows again, and is dealt with, when they are opened.
      if (!(error instanceof StoreError || error instanceof LogError)) throw error
    }
    view?.memory?.release()
    return null
  }
}

/** How the log is opened, with a fresh budget. */
function openerOf(
  context: ViewContext,
  request: ViewRequest,
  signal: AbortSignal | undefined,
  isFirst: boolean,
): Opener {
  const { archives } = context
  const budget = budgetOf(context, signal)
  const inSlot: Opener['unpacking'] = archives && ((job) => runInSlot(archives, budget, job))
  return {
    ...context,
    budget,
    // Otherwise the whole request has a slot already.
    unpacking: mayUnpack(request) ? undefined : inSlot,
    trustDeclaredSize: isFirst && searchesBack(request),
  }
}

async function withBudgetNote(view: View): Promise<View> {
  const prev = view.prev ?? (await view.series.cursor(view.from))
  return { ...view, prev, notes: [...new Set<Note>([...view.notes, 'scan-budget'])] }
}
