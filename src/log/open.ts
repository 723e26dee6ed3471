import { openJoined } from './joined/open.ts'
import { EVERYTHING, lacksPeriod, periodReach, type Reach, widerReach } from './joined/reach.ts'
import { openRotated } from './rotated/open.ts'
import type { Selection } from './selection.ts'
import { formatOf } from './text/format.ts'
import type { LogRequest, Opener, OpenLog, Prefetch } from './text/open.ts'
import type { Zone } from './time.ts'

/** Opens a log: here it is decided whether it is joined from many objects or a file with its predecessors. */
export async function openLog(
  opener: Opener,
  request: LogRequest,
  prefetch?: Prefetch,
  reach: Reach = EVERYTHING,
): Promise<OpenLog> {
  const joined = await opener.files.joined?.(request.file)
  return (
    (joined && (await openJoined(opener, joined, request, reach))) ?? openRotated(opener, request, prefetch)
  )
}

/** Opens a log; of a joined one, all objects that hold a period. */
export async function openPeriod(
  opener: Opener & { zone: Zone },
  request: LogRequest & { selection: Selection },
  prefetch?: Prefetch,
): Promise<OpenLog> {
  const { selection } = request
  for (let reach = periodReach(selection); ; ) {
    const log = await openLog(opener, request, prefetch, reach)
    if (!log.beyond || !selection.isPeriod) return log
    if (!(await lacksPeriod(selection, log, await formatOf(log.series), opener.zone))) return log
    reach = widerReach(reach, log)
  }
}
