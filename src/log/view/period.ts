import { openLog } from '../joined/open.ts'
import { lacksPeriod, type Period, periodReach, widerReach } from '../joined/reach.ts'
import type { LogRequest, Opener, OpenLog, Prefetch } from '../rotated/open.ts'
import type { Zone } from '../time.ts'
import { formatOf } from './format.ts'

/** Opens a log; of a joined one, the objects that hold a period. */
export async function openPeriod(
  opener: Opener & { zone: Zone },
  request: LogRequest & Period,
  prefetch?: Prefetch,
): Promise<OpenLog> {
  for (let reach = periodReach(request); ; reach = widerReach(reach)) {
    const log = await openLog(opener, request, prefetch, reach)
    if (!log.joined || reach.isWidest || (request.since === null && request.until === null)) return log
    if (!(await lacksPeriod(request, log.series, await formatOf(log.series), opener.zone))) return log
  }
}
