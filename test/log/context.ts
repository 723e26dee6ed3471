import { systemClock } from '../../src/kit/limits/clock.ts'
import { concurrencyLimit } from '../../src/kit/limits/concurrency-limit.ts'
import type { LogFiles } from '../../src/log/files/files.ts'
import type { Matcher } from '../../src/log/pattern/pattern.ts'
import { levelsFrom, Selection } from '../../src/log/selection.ts'
import { UTC } from '../../src/log/time.ts'
import type { ViewContext, ViewLimits } from '../../src/log/view/context.ts'
import type { ViewRequest } from '../../src/log/view/request.ts'

/** What views need, with limits that no test meets unless it sets its own. */
export function contextOf(
  files: LogFiles,
  limits: Partial<ViewLimits> = {},
  more: Partial<ViewContext> = {},
): ViewContext {
  return {
    files,
    zone: UTC,
    limits: {
      archiveBytes: 1 << 28,
      archiveWindow: 1 << 20,
      scanBytes: 1 << 30,
      scanMillis: 60_000,
      scanChunk: 1 << 20,
      answerBytes: 1 << 26,
      ...limits,
    },
    scans: concurrencyLimit({ most: 4, busy: () => new Error('busy') }),
    clock: systemClock,
    ...more,
  }
}

/** The conditions of a selection, with a level for it and those above. */
export type Conditions = {
  since?: number | null | undefined
  until?: number | null | undefined
  level?: number | null | undefined
  matcher?: Matcher | null | undefined
}

export function selectionOf({
  since = null,
  until = null,
  matcher = null,
  level = null,
}: Conditions): Selection {
  return new Selection({ since, until, matcher, levels: level === null ? null : levelsFrom(level) })
}

/** Parts of a request, with conditions in place of their selection. */
export type ViewPart = Partial<Omit<ViewRequest, 'selection'>> & Conditions

/** Requests the last MiB of `a.log`, unless told otherwise. */
export function viewRequest({ since, until, level, matcher, ...part }: ViewPart): ViewRequest {
  return {
    file: 'a.log',
    rotated: false,
    cursor: null,
    fit: { size: 1 << 20, lines: null },
    selection: selectionOf({ since, until, level, matcher }),
    records: false,
    ...part,
  }
}
