import { type Answer, linkOf, PAGE_SIZE } from '../ask.ts'
import { bytesOf, LEVELS } from '../logs.ts'
import { type Comparison, compareTexts, type Kind } from './comparison.ts'

/** The last lines of the log as they are. */
const text: Kind = async ({ log, reference, query, lines, get, differs }) => {
  const rotated = query.rotated ? '&rotated=true' : ''
  const answer = await get(`/api/v1/log/view?file=${log.name}&lines=${lines}&size=${PAGE_SIZE}${rotated}`)
  const all = (reference.text(query.rotated) ?? '').match(/[^\n]*\n|[^\n]+$/g) ?? []
  if (answer) compareTexts(answer.text, all.slice(-lines).join(''), differs)
}

/** The newest records as JSON. */
const records: Kind = async ({ chosen, lines, question, get, compare }) => {
  const answer = await get(`/api/v1/log/view?${question({ lines, format: 'ndjson' })}`)
  if (answer) compare(answer.text, chosen.slice(-lines))
}

/** Pages of one comparison: a hundred of one record each cost as much as the rest of the world. */
const MOST_PAGES = 12

/** All pages from the end to the beginning, or from the beginning to the end. */
export const pages =
  (isBack: boolean): Kind =>
  async ({ chosen, searched, lines, question, get, compare, differs }) => {
    const all: string[] = []
    const asked = new Set<string>()
    let spent = 0
    const count = Math.max(lines, Math.ceil(chosen.length / MOST_PAGES))
    const first = question({ format: 'ndjson', ...(isBack ? { lines: count } : { first: count }) })
    for (let link: string | null = `?${first}`, page = 1; link !== null; page++) {
      if (asked.has(link)) return differs('a page leads to one before it')
      asked.add(link)
      const answer: Answer | null = await get(`/api/v1/log/view${link}`)
      if (!answer) return
      if (isBack) all.unshift(answer.text)
      else all.push(answer.text)
      const isSpent = answer.notes.includes('scan-budget')
      if (!isBack && answer.text === '' && !isSpent) break
      // With the smallest budget, each looks at a single record.
      if (isSpent) spent++
      if (spent > 2 * searched + MOST_PAGES || page - spent > 3 * MOST_PAGES)
        return differs('the pages have no end')
      link = linkOf(answer, isBack ? 'prev' : 'next')
    }
    compare(all.join(''), chosen)
  }

/** Two pages forward, and then back: the page before the second one is the first. */
export const turned =
  (isInOrder: (comparison: Comparison) => boolean): Kind =>
  async (comparison) => {
    const { chosen, lines, question, get, differs } = comparison
    if (chosen.length <= lines || !isInOrder(comparison)) return
    const first = await get(`/api/v1/log/view?${question({ format: 'ndjson', first: lines })}`)
    const next = first && linkOf(first, 'next')
    const second = next ? await get(`/api/v1/log/view${next}`) : null
    const prev = second && linkOf(second, 'prev')
    const back = prev ? await get(`/api/v1/log/view${prev}`) : null
    if (first && second && !prev) differs('the second page has none before it')
    else if (first && back) compareTexts(back.text, first.text, (what) => differs(`turned: ${what}`))
  }

/** All chosen records as text, from the first to the last. */
const whole: Kind = async ({ chosen, question, get, differs }) => {
  const answer = await get(`/api/v1/log/view?${question({ download: 'true' })}`)
  if (answer) compareTexts(answer.text, chosen.map((record) => record.text).join(''), differs)
}

/** The file as it is stored, or a range of its bytes. */
const download =
  (isPart: boolean): Kind =>
  async ({ log, reference, lines, get, differs }) => {
    const bytes = bytesOf(reference.text(false)!)
    const from = Math.min(lines * 7, bytes.length - 1)
    const to = Math.min(from + lines * lines, bytes.length)
    if (isPart && from < 0) return
    const range = `bytes=${from}-${to - 1}`
    const answer = await get(`/api/v1/log/download?file=${log.name}`, isPart ? { Range: range } : {})
    if (!answer) return
    const status = isPart ? 206 : 200
    if (answer.status !== status) differs(`${range} of ${bytes.length} bytes is ${answer.status}`)
    compareTexts(answer.text, new TextDecoder().decode(isPart ? bytes.subarray(from, to) : bytes), differs)
  }

/** A view of all that is chosen, and an export of it, have something to say about the order, or neither has. */
const notes: Kind = async ({ chosen, question, get, differs }) => {
  const view = await get(`/api/v1/log/view?${question({ lines: chosen.length + 1, format: 'ndjson' })}`)
  const whole = await get(`/api/v1/log/view?${question({ download: 'true', format: 'ndjson' })}`)
  if (!view || !whole) return
  const [one, other] = [view, whole].map((answer) => answer.notes.filter((note) => note.endsWith('-order')))
  if (one!.join() !== other!.join()) differs(`the view has the notes ${one}, the export ${other}`)
}

/** The last lines that fit into a number of bytes. */
const tail: Kind = async ({ log, reference, query, lines, get, differs }) => {
  const size = 100 * lines
  const rotated = query.rotated ? '&rotated=true' : ''
  const answer = await get(`/api/v1/log/view?file=${log.name}&size=${size}${rotated}`)
  const all = (reference.text(query.rotated) ?? '').match(/[^\n]*\n|[^\n]+$/g) ?? []
  let expected = ''
  while (all.length > 0 && sizeOf(all.at(-1)! + expected) <= size) expected = all.pop()! + expected
  // A last line that is longer is cut at its start.
  if (answer && expected !== '') compareTexts(answer.text, expected, differs)
}

function sizeOf(text: string): number {
  return bytesOf(text).length
}

interface Chart {
  complete: boolean
  step: number
  levels: string[]
  buckets: { time: number; counts: number[] }[]
}

/** How many records with a time there are of each level in each bucket; those beyond the first or the last one count there. */
export const histogram =
  (more: Record<string, string>): Kind =>
  async ({ chosen, lines, question, get, differs }) => {
    const answer = await get(`/api/v1/log/histogram?${question({ buckets: lines, ...more })}`)
    if (!answer) return
    const { complete, step, levels, buckets } = JSON.parse(answer.text) as Chart
    const expected = buckets.map(() => levels.map(() => 0))
    const timed = chosen.filter(({ time }) => time !== null)
    for (const { time, level } of timed) {
      const at = Math.floor((time! - (buckets[0]?.time ?? 0)) / step)
      const bucket = expected[Math.min(Math.max(0, at), buckets.length - 1)]
      if (bucket) bucket[levels.indexOf(level ?? 'none')]!++
    }
    const at = expected.findIndex((counts, i) => counts.join() !== buckets[i]!.counts.join())
    if (!complete || (buckets.length === 0 && timed.length > 0))
      differs(`the chart has ${buckets.length} buckets of ${timed.length} records (complete: ${complete})`)
    else if (at >= 0)
      differs(
        `bucket ${at + 1} of ${buckets.length} has ${buckets[at]!.counts} of ${levels}, not ${expected[at]}`,
      )
  }

interface Fields {
  records: number
  complete: boolean
  fields: { name: string; values: { value: string; count: number }[] }[]
}

/** How many records the fields are of, and how many there are of each level. */
export const fields: Kind = async ({ chosen, question, get, differs }) => {
  const answer = await get(`/api/v1/log/fields?${question({})}`)
  if (!answer) return
  const { records, complete, fields: all } = JSON.parse(answer.text) as Fields
  if (!complete || records !== chosen.length)
    differs(`the fields are of ${records} records (complete: ${complete}), and not of ${chosen.length}`)
  const values = all.find(({ name }) => name === 'level')?.values ?? []
  for (const level of LEVELS) {
    const count = values.find(({ value }) => value === level)?.count ?? 0
    const expected = chosen.filter((record) => record.level === level).length
    if (count !== expected) differs(`${count} records are of the level ${level}, not ${expected}`)
  }
}

interface Groups {
  records: number
  complete: boolean
  groups: { value: string; count: number; errors: number }[]
}

/** How many records there are of each level. */
export const groups: Kind = async ({ chosen, question, get, differs }) => {
  const answer = await get(`/api/v1/log/groups?${question({ by: 'level' })}`)
  if (!answer) return
  const { records, complete, groups: all } = JSON.parse(answer.text) as Groups
  const leveled = chosen.filter(({ level }) => level !== null).length
  if (!complete || records !== leveled)
    differs(`the groups are of ${records} records (complete: ${complete}), and not of ${leveled}`)
  for (const level of LEVELS) {
    const { count = 0, errors = 0 } = all.find(({ value }) => value === level) ?? {}
    const expected = chosen.filter((record) => record.level === level).length
    if (count !== expected) differs(`${count} records are in the group ${level}, not ${expected}`)
    if (errors !== (level === 'error' ? count : 0))
      differs(`${errors} of the ${count} records in the group ${level} are errors`)
  }
}

/** Comparisons of a single log. */
export const SINGLE: Readonly<Record<string, Kind>> = {
  text,
  records,
  'pages-back': pages(true),
  'pages-forward': pages(false),
  turned: turned(() => true),
  whole,
  download: download(false),
  range: download(true),
  tail,
  histogram: histogram({}),
  fields,
  groups,
  notes,
}
