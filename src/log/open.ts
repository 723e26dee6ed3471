import { openJoined } from './joined/open.ts'
import { EVERYTHING, type SearchWindow } from './joined/reach.ts'
import { openRotated } from './rotated/open.ts'
import { type LogRequest, type Opener, type OpenLog, openFile, type Prefetch } from './text/open.ts'
import { Series } from './text/series.ts'

/** Opens a log, which is joined from many objects, a file with its predecessors, or a file. */
export async function openLog(
  opener: Opener,
  request: LogRequest,
  prefetch: Prefetch = { tail: 0, head: 0 },
  reach: () => SearchWindow = () => EVERYTHING,
): Promise<OpenLog> {
  const { file, rotated, cursor, charset } = request
  const joined = await opener.files.joined?.(file)
  const log = joined && (await openJoined(opener, joined, request, reach()))
  if (log) return log
  if (rotated || cursor) return openRotated({ ...opener, charset }, request, prefetch)
  return { series: await Series.open([await openFile({ ...opener, charset }, file, prefetch)]), at: null }
}
