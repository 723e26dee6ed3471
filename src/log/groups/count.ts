import type { LogGroups } from '../../kit/answers.ts'
import { LEVELS } from '../format/detect.ts'
import { type CountedRange, countRecords } from '../histogram/count.ts'
import { countIn, openingOf, stretchOf } from '../histogram/histogram.ts'
import { numberReader } from '../numbers/numbers.ts'
import type { Reader } from '../pattern/pattern.ts'
import type { Candidate } from '../search/filter.ts'
import { type GroupsNote, timeNotes } from '../view/answer.ts'
import type { ViewContext } from '../view/context.ts'
import type { ViewRequest } from '../view/request.ts'
import type { Session } from '../view/session.ts'
import { valueReader } from '../where/where.ts'
import { type GroupOrder, Groups, type GroupsDump } from './groups.ts'

/** The field that records are grouped by, and the one whose numbers each group has; null for none. */
export interface Grouping {
  by: string
  of: string | null
}

/** What is asked for: how records are grouped, and the order and number of the groups that are shown. */
export interface GroupsRequest extends Grouping {
  sort: GroupOrder
  limit: number
}

/** The groups of one log, or of several. */
export interface CountedGroups {
  groups: Groups
  complete: boolean
  notes: GroupsNote[]
}

const ERROR = LEVELS.indexOf('error')
const FATAL = LEVELS.indexOf('fatal')

/** Groups the records that match a request; null if `isKnown` says that the client already has the answer. */
export function groupsOf(
  context: ViewContext,
  request: ViewRequest & Grouping,
  isKnown: (state: string) => boolean,
  signal?: AbortSignal,
): Promise<CountedGroups | null> {
  const opening = { ...openingOf(context, request, signal), isKnown }
  return countIn(context, opening, (session) => count(session, request), signal)
}

async function count(session: Session, request: ViewRequest & Grouping): Promise<CountedGroups> {
  const { context, budget } = session
  const { zone } = context
  const { selection } = request
  const { since, until, isPeriod } = selection
  const format = await session.checkedFormat()
  const { isOrdered, ...stretch } = await stretchOf(session)
  const { series, certain } = session.open
  const groups = new Groups()
  const addRecord = adder(groups, request, { format, zone })
  const add: CountedRange['add'] = (time, column, record) => {
    const isInTime = !isPeriod || (time >= (since ?? time) && time < (until ?? Number.POSITIVE_INFINITY))
    if (isInTime) addRecord(record!, column === ERROR || column === FATAL)
  }
  const filter = { format, zone, selection, since: null, until: null }
  const counted = { ...stretch, filter, add, isSpan: () => false }
  const isCounted = await countRecords(context, series, budget, counted)
  const isBroken = series.brokenIn(stretch.lo, stretch.hi)
  const isCut = !isCounted || series.isCut
  const hole = session.cut?.hole ?? null
  const notes: GroupsNote[] = hole === null ? [] : [hole]
  if (isCut) notes.push('scan-budget')
  if (isBroken) notes.push('archive-cut')
  if (!isOrdered) notes.push('time-order')
  if (certain === false) notes.push('family-order')
  if (isPeriod) notes.push(...timeNotes(format, zone))
  return { groups, complete: !isCut && !isBroken && hole !== 'gap', notes }
}

/** Counts a record with the values of its fields. */
function adder(groups: Groups, { by, of }: Grouping, reader: Reader) {
  const { format } = reader
  const readNumber = of === null ? null : numberReader(of)
  return ({ bytes, start, end }: Candidate, isError: boolean) => {
    const text = format.unwrap?.(bytes, start, end)
    const record = text ? { bytes: text, from: 0, to: text.length } : { bytes, from: start, to: end }
    const valuesOf = valueReader(record, reader)
    const values = valuesOf(by)
    const [number] = readNumber && values.length > 0 ? valuesOf(of!) : []
    groups.add(values, isError, number === undefined ? null : readNumber!(number))
  }
}

/** What was counted, for a coordinator. */
export function groupsText({ groups, complete, notes }: CountedGroups): string {
  return JSON.stringify({ ...groups.dump(), complete, notes } satisfies CountedDump)
}

type CountedDump = GroupsDump & Omit<CountedGroups, 'groups'>

/** What another node counted; null if it makes no sense. */
export function countedThere(given: unknown): CountedGroups | null {
  try {
    const { complete, notes, ...dump } = given as CountedDump
    if (typeof complete !== 'boolean' || !notes.every((note) => /^[a-z-]{1,40}$/.test(note))) return null
    return { groups: Groups.from(dump), complete, notes }
  } catch {
    return null
  }
}

/** What was counted, in the order that was asked for. */
export function groupsAnswer(
  { groups, complete, notes }: CountedGroups,
  { by, of, sort, limit }: GroupsRequest,
): { body: LogGroups; notes: GroupsNote[] } {
  const { unit, records, ...shown } = groups.top(sort, limit, of !== null)
  const told: GroupsNote[] = [...notes]
  if (groups.isCut) told.push('groups-cut')
  if (groups.lacksField(of)) told.push('unknown-field')
  return { body: { by, of, unit, records, complete, ...shown }, notes: told }
}
