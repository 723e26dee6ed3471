import type { Log } from '../logs.ts'
import { type Found, Reference } from '../reference.ts'
import { type Comparison, compareRecords, compareTexts, type Kind } from './comparison.ts'
import { fields, groups, histogram, pages, turned } from './single.ts'

/** A log of a timeline, with what the reference chooses of it. */
interface Lane {
  log: Log
  chosen: Found[]
}

/** The same comparison of all logs as one timeline; null when one of them has no file or no time. */
function timeline(comparison: Comparison): { lanes: Lane[]; merged: Comparison } | null {
  const { world, service, choice, question, differs } = comparison
  const references = world.logs.map((log) => ({ log, reference: new Reference(service.filesOf(log)) }))
  const present = references.filter(({ reference }) => reference.text(false) !== null)
  if (present.some(({ reference }) => reference.records(true).every(({ time }) => time === null))) return null
  const lanes = present.map(({ log, reference }) => ({ log, chosen: reference.chosen(true, choice) }))
  const isInOrder = present.every(({ reference }) => reference.isInOrder(true))
  const merged: Comparison = {
    ...comparison,
    chosen: lanes.flatMap(({ chosen }) => chosen),
    searched: present.reduce((sum, { reference }) => sum + reference.records(true).length, 0),
    question(more) {
      const parameters = new URLSearchParams(question(more))
      parameters.delete('rotated')
      parameters.delete('file')
      // A pattern makes a timeline of one log.
      const isOne = lanes.length === 1
      const names = lanes.map(({ log }) => (isOne ? log.name.replace(/.$/, '?') : log.name))
      for (const name of names) parameters.append('file', name)
      return parameters.toString()
    },
    compare: (ndjson) => compareLanes(ndjson, lanes, { isInOrder, differs }),
  }
  return { lanes, merged }
}

interface Order {
  isInOrder: boolean
  differs(what: string): void
}

/** The order of each log is its own; that of all is by time and name, if no clock stepped. */
function compareLanes(ndjson: string, lanes: readonly Lane[], { isInOrder, differs }: Order): void {
  const lines = ndjson.split('\n').filter(Boolean)
  const records = lines.map((line) => JSON.parse(line) as { file: string; time: string; late?: boolean })
  for (const { log, chosen } of lanes) {
    const own = lines.filter((_, i) => records[i]!.file === log.name)
    compareRecords(own.join('\n'), chosen, (what) => differs(`${log.name}: ${what}`))
  }
  const other = records.find(({ file, late }) => late || !lanes.some(({ log }) => log.name === file))
  if (other) differs(`${other.file} ${other.time} does not belong here, or is late`)
  // Lines before the first record of a log have no time.
  const places = records.filter(({ time }) => time !== undefined).map(({ file, time }) => `${time} ${file}`)
  const wrong = places.findIndex((place, i) => i > 0 && place < places[i - 1]!)
  if (isInOrder && wrong > 0) differs(`${places[wrong]} comes after ${places[wrong - 1]}`)
}

const asMerged =
  (kind: Kind): Kind =>
  async (comparison) => {
    const made = timeline(comparison)
    if (made) await kind(made.merged)
  }

function areInOrder({ world, service }: Comparison): boolean {
  return world.logs.every((log) => new Reference(service.filesOf(log)).isInOrder(true))
}

/** The whole timeline as text: each line has the name of its log and a tab in front. */
const whole: Kind = async (comparison) => {
  const made = timeline(comparison)
  const answer = await made?.merged.get(`/api/v1/log/view?${made.merged.question({ download: 'true' })}`)
  if (!made || !answer) return
  const lines = answer.text.match(/[^\n]*\n|[^\n]+$/g) ?? []
  for (const { log, chosen } of made.lanes) {
    const own = lines.filter((line) => line.startsWith(`${log.name}\t`))
    const got = own.map((line) => line.slice(log.name.length + 1)).join('')
    const expected = chosen.map(({ text }) => text).join('')
    compareTexts(got, expected, (what) => comparison.differs(`${log.name}: ${what}`))
  }
}

/** Comparisons of all logs as one timeline. */
export const MERGED: Readonly<Record<string, Kind>> = {
  'merged-back': asMerged(pages(true)),
  'merged-forward': asMerged(pages(false)),
  'merged-turned': asMerged(turned(areInOrder)),
  'merged-whole': whole,
  'merged-histogram': asMerged(histogram({})),
  'merged-fields': asMerged(fields),
  'merged-groups': asMerged(groups),
}
