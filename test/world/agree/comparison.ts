import type { Answer, Query } from '../ask.ts'
import type { Log } from '../logs.ts'
import type { Choice, Found, Reference } from '../reference.ts'
import type { Service, World } from '../world.ts'

/** A question in a still moment, and what its answer is compared with. */
export interface Comparison {
  world: World
  service: Service
  log: Log
  reference: Reference
  query: Query
  /** The query with instants. */
  choice: Choice
  lines: number
  /** The records that the reference chooses. */
  chosen: Found[]
  /** How many records it chooses them from. */
  searched: number
  question(more: Record<string, string | number>): string
  get(path: string, headers?: Record<string, string>): Promise<Answer | null>
  /** Compares records as JSON with those that the reference chooses. */
  compare(ndjson: string, expected: readonly Found[]): void
  differs(what: string): void
}

/** How one resource is compared. */
export type Kind = (comparison: Comparison) => Promise<void>

export function compareTexts(got: string, expected: string, differs: (what: string) => void): void {
  if (got === expected) return
  let at = 0
  while (at < got.length && got[at] === expected[at]) at++
  const from = Math.max(0, at - 40)
  differs(
    `${got.length} characters instead of ${expected.length}; at ${at} ` +
      `${JSON.stringify(got.slice(from, at + 60))} instead of ${JSON.stringify(expected.slice(from, at + 60))}`,
  )
}

export function compareRecords(
  ndjson: string,
  expected: readonly Found[],
  differs: (what: string) => void,
): void {
  const got = recordsIn(ndjson)
  const want = expected.map(shown)
  const at = want.findIndex((record, i) => record !== got[i])
  if (at >= 0)
    differs(`record ${at + 1} of ${want.length} (${got.length}) is ${got[at]} instead of ${want[at]}`)
  else if (got.length > want.length) differs(`${got[want.length]} is too much, after ${want.length} records`)
}

/** Compares what a search gave that ended early: each record is one of those expected, once and in their order. */
export function comparePart(
  ndjson: string,
  expected: readonly Found[],
  differs: (what: string) => void,
): void {
  const want = expected.map(shown)
  let at = 0
  for (const record of recordsIn(ndjson)) {
    const found = want.indexOf(record, at)
    if (found < 0)
      return void differs(`${record} is none of the ${want.length} records after ${want[at - 1]}`)
    at = found + 1
  }
}

function recordsIn(ndjson: string): string[] {
  const lines = ndjson.split('\n').filter(Boolean)
  return lines.map((line) => {
    const { time, level, message } = JSON.parse(line) as { time?: string; level?: string; message?: string }
    const id = /<(\d+-\d+)>/.exec(message ?? '')?.[1] ?? ''
    return `<${id}> ${time === undefined ? null : Date.parse(time)} ${level ?? null}`
  })
}

function shown({ id, time, level }: Found): string {
  return `<${id}> ${time} ${level}`
}
