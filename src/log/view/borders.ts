import type { LineFormat } from '../format/detect.ts'
import type { Filter } from '../search/filter.ts'
import type { Border } from '../seek/seek.ts'
import type { Zone } from '../time.ts'
import type { ViewRequest } from './request.ts'

/** Where the records of a time range begin and end; null if the request has no time. */
export interface Borders {
  since: Border | null
  until: Border | null
}

/** Whether every record on one side of a border is wanted, and none on the other: the times there are in order. */
export function isSharp(border: Border | null): boolean {
  return border === null || border.from === border.to
}

/** Which records a request selects, between the borders found for its times. */
export function filterOf(
  request: Pick<ViewRequest, 'since' | 'until' | 'level' | 'levels' | 'matcher'>,
  { format, zone, since, until }: Borders & { format: LineFormat; zone: Zone },
): Filter {
  const { level, levels, matcher } = request
  return {
    format,
    zone,
    level,
    levels,
    matcher,
    since: since && !isSharp(since) ? { at: request.since!, below: since.to } : null,
    until: until && !isSharp(until) ? { at: request.until!, from: until.from } : null,
  }
}
