import { ProblemError } from '../../../client.ts'
import type { Look } from '../../url.ts'
import { momentOf } from '../find/moment.ts'
import { isFiltered } from '../find/query.ts'
import { isSame, timeIn, zoneOf } from '../record/record.ts'
import type { Presenting, Screen } from './screen.ts'
import { timeNear } from './window.ts'

/** Where the user is: a record that another view shows, or a moment. */
export interface Goal extends Presenting {
  /** The record as the other view showed it; null if only the moment is known. */
  line: string | null
  /** ISO 8601; null in a log without times. */
  time: string | null
  /** A cursor at or before the record. */
  cursor: string | null
}

/** A goal of which nothing is known yet. */
export const NO_GOAL: Goal = { line: null, time: null, cursor: null, marked: false, expand: false, top: null }

/** A record that is loaded, as a goal for another view. */
export function goalAt({ window, list }: Screen, seq: number): Goal | null {
  const line = window.item(seq)
  if (typeof line !== 'string') return null
  const place = window.place(seq)
  const cursor = place === null || place.offset < 0 ? null : place.cursor
  return { ...NO_GOAL, line, time: timeNear(window, seq), cursor, top: list.offsetOf(seq) }
}

/** To the records just before a moment. */
export async function toTime(screen: Screen, ms: number): Promise<void> {
  screen.reopen()
  const seq = await openTime(screen, ms, ms)
  if (!screen.closed && screen.window.failure === null) screen.present(seq, { ...NO_GOAL, marked: true })
}

/** To a record, or to its nearest neighbour in time if this view leaves it out; false if neither can be found. */
export async function toGoal(screen: Screen, goal: Goal): Promise<boolean> {
  const moment = Date.parse(goal.time ?? '')
  const isTimed = !Number.isNaN(moment)
  if (!isTimed && goal.cursor === null) return false
  screen.reopen()
  const { window, look } = screen
  const seq = isTimed
    ? await openTime(screen, moment + 1, moment)
    : await window.openAround({ before: goal.cursor! })
  const { failure } = window
  // A log without times has no such moment; a range that it cannot answer is shown as a failure.
  if (failure instanceof ProblemError && failure.code === 'no-time' && look.since + look.until === '')
    return false
  if (screen.closed || failure !== null || presentLine(screen, goal)) return true
  const whole = look.all || !isFiltered(look)
  // It is further from its cursor, or more records have this very time, than a page holds.
  if (whole && (await toLine(screen, goal))) return true
  if (!screen.closed && screen.window.items.length > 0)
    screen.present(isTimed ? nearest(screen, seq, moment) : seq, { ...goal, marked: false, expand: false })
  return true
}

/** The place of a link; false when nothing more is to be done. */
export async function toLink(screen: Screen): Promise<boolean> {
  const { look, window } = screen
  const seq = (await window.openAround({ before: look.at })) + look.offset
  if (screen.closed) return false
  if (window.failure instanceof ProblemError && /cursor/.test(window.failure.code)) {
    await toLost(screen)
    return false
  }
  if (window.failure !== null) return false
  // With what follows it: the place should not be at the very end of what is loaded.
  for (let page = 0; page < 16 && window.failure === null && !screen.closed; page++) {
    if (seq + 50 >= window.endSeq && !window.atEnd) await window.loadNewer()
    else if (seq + 50 < window.firstSeq && window.older !== null) await window.loadOlder()
    else break
  }
  if (screen.closed) return false
  if (look.record) screen.present(seq, { ...NO_GOAL, marked: true, expand: true })
  else screen.list.show(seq, 'start')
  return true
}

/** What a link pointed to is gone: show the log at that time, or its end. */
async function toLost(screen: Screen): Promise<void> {
  const moment = Date.parse(screen.look.time)
  if (!Number.isNaN(moment)) {
    await toTime(screen, moment + 1)
    if (screen.closed || (screen.window.failure === null && screen.window.items.length > 0)) {
      screen.say('The linked lines are gone. This is the log at that time')
      return
    }
  }
  screen.say('The linked lines are gone. These are the newest')
  screen.reopen()
  await screen.window.openTail()
  if (!screen.closed) screen.list.toEnd()
}

/** To the next hit (1) or the one before (-1), from the selected record or from what is in view; loads what it needs. */
export async function toHit(screen: Screen, direction: 1 | -1): Promise<void> {
  if (screen.closed) return
  const found = await findHit(screen, direction)
  if (found !== null) screen.reveal(found)
  else if (!screen.closed)
    screen.say(`No ${direction > 0 ? 'later' : 'earlier'} ${isFiltered(screen.look) ? 'hit' : 'error'}`)
}

async function findHit(screen: Screen, direction: 1 | -1): Promise<number | null> {
  const { list, look, hits, selected } = screen
  let seq = (selected?.to ?? (direction > 0 ? list.top().seq - 1 : screen.window.endSeq)) + direction
  while (!screen.closed) {
    const { window } = screen
    const { firstSeq, endSeq } = window
    for (; seq >= firstSeq && seq < endSeq; seq += direction) if (hits.isHit(window.item(seq)!)) return seq
    if (look.all || !isFiltered(look)) {
      // All lines are shown: the node finds the next hit beyond the loaded ones.
      const found = await hits.beyond(window, direction, screen.signal)
      if (found === null) return null
      const there = await toGoal(screen, { ...NO_GOAL, ...found, time: timeIn(found.line), marked: true })
      return there && !screen.closed && screen.window.failure === null ? (screen.selected?.to ?? null) : null
    }
    if (window.full) {
      const there = await goOn(screen, direction)
      if (there === null) return null
      seq = there
      continue
    }
    if (direction > 0) await window.loadNewer()
    else await window.loadOlder()
    if (window.firstSeq === firstSeq && window.endSeq === endSeq) return null
  }
  return null
}

/** To the records after (1) or before (-1) those of a full window; resolves to the first of them, or null at the end. */
export async function goOn(screen: Screen, direction: 1 | -1): Promise<number | null> {
  const { newer, older, atEnd } = screen.window
  const cursor = direction > 0 ? (atEnd ? null : newer) : older
  if (cursor === null) return null
  screen.reopen()
  const seq = await screen.window.openAround({ before: cursor })
  if (screen.closed || screen.window.failure !== null) return null
  screen.list.show(seq, direction > 0 ? 'start' : 'center')
  return direction > 0 ? seq : seq - 1
}

/** Forward to a record from a cursor before it. */
async function toLine(screen: Screen, goal: Goal): Promise<boolean> {
  if (goal.cursor === null || goal.line === null) return false
  screen.reopen()
  const { window } = screen
  await window.openAround({ before: goal.cursor })
  for (let page = 0; page < 24 && !screen.closed; page++) {
    if (presentLine(screen, goal)) return true
    if (window.atEnd || window.failure !== null) break
    await window.loadNewer()
  }
  return false
}

/** Presents a record, if it is loaded. */
function presentLine(screen: Screen, goal: Goal): boolean {
  const { items, firstSeq } = screen.window
  const { line, time } = goal
  if (line === null) return false
  let index = items.lastIndexOf(line)
  // Read together with other logs, a record says where it is from.
  if (index < 0)
    index = items.findLastIndex(
      (each) => typeof each === 'string' && timeIn(each) === time && isSame(each, line),
    )
  if (index >= 0) screen.present(firstSeq + index, goal)
  return index >= 0
}

/** Of a record before a moment and the one after it, the nearer. */
function nearest({ window }: Screen, before: number, moment: number): number {
  const distance = (seq: number) => {
    const ms = Date.parse(timeIn(window.item(seq)) ?? '')
    return Number.isNaN(ms) ? Number.POSITIVE_INFINITY : Math.abs(ms - moment)
  }
  return distance(before + 1) < distance(before) ? before + 1 : before
}

/**
 * Opens the page that ends at `end` and shows a moment, inside the look's range: it must not show what the range leaves
 * out. Resolves to the seq of the last record before the end.
 */
async function openTime({ look, window, zone }: Screen, end: number, moment: number): Promise<number> {
  const { from, to } = rangeIn(look, zone ?? zoneOf(look.time))
  const ms = Math.min(moment < from ? from + 1 : end, to)
  return Math.max(0, (await window.openAround({ until: new Date(ms).toISOString() })) - 1)
}

/** Whether the look's range leaves out a goal. */
export function isOutside({ look, zone }: Screen, { time }: Goal): boolean {
  const moment = Date.parse(time ?? '')
  const { from, to } = rangeIn(look, zone ?? zoneOf(time ?? ''))
  return moment < from || moment > to
}

/** The look's range in milliseconds since the epoch, in the zone of the log. */
function rangeIn({ since, until }: Look, zone: number): { from: number; to: number } {
  const from = since === '' ? null : momentOf(since, zone)
  const to = until === '' ? null : momentOf(until, zone, from ?? undefined)
  return { from: from ?? Number.NEGATIVE_INFINITY, to: to ?? Number.POSITIVE_INFINITY }
}
