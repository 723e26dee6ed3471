import { yieldToEventLoop } from '../../kit/limits/yield.ts'
import { soundsCompressed } from '../../store/codec/kind.ts'
import { StoreError } from '../../store/store.ts'
import { LogError } from '../error.ts'
import { lacksPage, pageReach } from '../joined/reach.ts'
import { SAMPLE } from '../text/format.ts'
import type { LogRequest, Opener, Prefetch } from '../text/open.ts'
import type { Note, View } from './answer.ts'
import { budgetOf, runInSlot, type ViewContext } from './context.ts'
import { ONE_MORE, type ViewRequest } from './request.ts'
import { select } from './select.ts'
import { inSession, type Opening, type Session, WIDER } from './session.ts'

/** A page of a log, and the log as far as that stays open. */
export interface LogPage {
  view: View
  /** Null if the log has to be opened again for the next page. */
  session: Session | null
}

/** Selects a part of a log. */
export async function viewOf(
  context: ViewContext,
  request: ViewRequest,
  signal?: AbortSignal,
): Promise<View> {
  return (await openPage(context, request, { signal }))!.view
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
  return (await openPage(context, request, { isKnown, signal }))?.view ?? null
}

/**
 * The page that the request's cursor, which is `prev` or `next` of a page, leads to, without opening the log again: it has
 * the same budget. Null if the log has to be opened.
 */
export async function pageAfter(
  { session, view: { from, to } }: LogPage,
  context: ViewContext,
  request: ViewRequest,
): Promise<LogPage | null> {
  if (!session) return null
  const { direction, place } = request.cursor!
  const at = direction === 'after' ? to : from
  const next = session.of({ ...session.open, at, isStart: !place.splitsRecord }, request, context)
  try {
    const { view, isLacking } = await pageIn(next, request)
    if (!isLacking) return { view, session }
    view.memory?.release()
  } catch (error) {
    // Whatever is wrong with the files shows again, and is dealt with, when they are opened.
    if (!(error instanceof StoreError || error instanceof LogError)) throw error
  }
  return null
}

/** Opens a log for a page of it; null if `isKnown`. */
export async function openPage(
  context: ViewContext,
  request: ViewRequest,
  { isKnown, signal }: Pick<Opening, 'isKnown'> & { signal?: AbortSignal | undefined },
): Promise<LogPage | null> {
  // Each search of a directory starts in a turn of its own: a tail would wait for thirty that start together.
  if (context.files.isNear && !request.selection.isAll) await yieldToEventLoop()
  const opening = {
    request,
    reach: () => pageReach(request),
    prefetch: prefetchOf(request),
    openerOf: (isFirst: boolean) => openerOf(context, request, signal, isFirst),
    isKnown,
  }
  const find = () => inSession(context, opening, (session) => firstPage(session, request))
  return context.archives && mayUnpack(request) ? context.archives.run(find, signal) : find()
}

/** Which parts of a file the request will need. */
function prefetchOf(request: ViewRequest): Prefetch {
  const { lines, size } = request.fit
  const { selection, each } = request
  // Counting lines begins with 64 KiB before the last newline.
  const wanted =
    lines === null ? (each ? size + ONE_MORE : size) : Math.max(64 * 1024 + 1, Math.min(size, lines * 512))
  const isTail = selection.until === null && !selection.isSearch
  return {
    tail: isTail ? Math.min(Math.max(wanted, SAMPLE), LARGEST_TAIL) : SAMPLE,
    head: selection.isAll && !request.records ? 0 : SAMPLE,
  }
}

/** The most that is read of a file's end while opening it. */
const LARGEST_TAIL = 256 * 1024

/** Whether the request may involve compressed files. */
function mayUnpack({ file, rotated, cursor, charset }: LogRequest): boolean {
  if (charset !== undefined && charset !== 'marked') return true
  return rotated || soundsCompressed(file) || (cursor !== null && soundsCompressed(cursor.place.name))
}

/** Whether the newest records that match are wanted: all of the log, up to its end, is then searched. */
function searchesBack({ cursor, first, selection }: ViewRequest): boolean {
  return cursor === null && !first && selection.isSearch
}

/** A page of a log that was just opened; `WIDER` if what is open of a joined log may lack some of it. */
async function firstPage(session: Session, request: ViewRequest): Promise<LogPage | typeof WIDER> {
  const { view, isLacking } = await pageIn(session, request)
  if (!isLacking) return { view, session: session.cut ? null : session }
  if (session.budget.isSpent) return { view: await withBudgetNote(view), session: null }
  view.memory?.release()
  return WIDER
}

/** A page of an open log, and whether what is open may lack some of it. */
async function pageIn(session: Session, request: ViewRequest) {
  const { opener, context } = session
  const view = await select(session, request)
  const { series, from, to } = view
  try {
    // Bytes that are read while they are sent must be known to exist before sending begins.
    if (view.pieces === null) await series.ensure(from, to)
    const finished = session.cut?.finish(view) ?? view
    // A client that reads on from the end of a file must know of bytes that were lost right there.
    const isOnward = request.cursor?.direction === 'after' && from < to
    const hasGap = series.hasGapIn(isOnward ? from - 1 : from, to)
    if (hasGap && !finished.notes.includes('gap')) finished.notes.push('gap')
    // A search that was cut short relies on no size.
    if (opener.trustDeclaredSize && !finished.notes.includes('scan-budget')) await series.verifySizes()
    const { open } = session
    const isLacking =
      view.isLacking ||
      (open.beyond !== undefined && (await lacksPage(request, open, finished, context.zone)))
    return { view: finished, isLacking }
  } catch (error) {
    view.memory?.release()
    throw error
  }
}

/** How the log is opened, with a fresh budget. If a declared size was wrong, the retry ignores declared sizes. */
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
