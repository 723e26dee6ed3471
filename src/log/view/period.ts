import { openAnyLog } from '../text/joined.ts'
import type { Foresight, LogRequest, Opener, OpenLog } from '../text/open.ts'
import type { Zone } from '../time.ts'
import { formatOf } from './format.ts'
import { lacksPeriod, type Period, periodReach, widerReach } from './reach.ts'

/** Opens a log; of a joined one, the objects that hold a period. */
export async function openPeriod(
  opener: Opener & { zone: Zone },
  request: LogRequest & Period,
  foresight?: Foresight,
): Promise<OpenLog> {
  for (let reach = periodReach(request); ; reach = widerReach(reach)) {
    const log = await openAnyLog(opener, request, foresight, reach)
    if (!log.joined || reach.isWidest || (request.since === null && request.until === null)) return log
    if (!(await lacksPeriod(request, log.series, await formatOf(log.series), opener.zone))) return log
  }
}
