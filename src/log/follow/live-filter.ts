import { PLAIN } from '../format/detect.ts'
import { openLog } from '../open.ts'
import { type Filter, filterOf } from '../search/filter.ts'
import { checkFormat, formatOf } from '../text/format.ts'
import { budgetOf, type ViewContext } from '../view/context.ts'
import type { ViewRequest } from '../view/request.ts'

/** The filter of a follow: times are checked for every record, because future records cannot be bisected. */
export async function liveFilter(
  context: ViewContext,
  asked: ViewRequest,
  signal: AbortSignal | undefined,
): Promise<Filter> {
  // A new file is empty, or begins with the rest of a record: its predecessors show the format.
  const budget = budgetOf(context, signal)
  const log = await openLog({ ...context, budget }, { ...asked, rotated: true, cursor: null })
  const format = await formatOf(log.series, true)
  const undecided = format === PLAIN && log.series.end === 0
  if (!undecided) checkFormat(format, asked)
  return { ...filterOf(asked, { format, zone: context.zone }), undecided }
}

/** The filter that everything passes. */
export function openFilter({ zone }: ViewContext): Filter {
  return { format: PLAIN, zone, level: null, matcher: null, since: null, until: null }
}
