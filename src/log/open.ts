import { openJoined } from './joined/open.ts'
import { EVERYTHING, type Reach } from './joined/reach.ts'
import { openRotated } from './rotated/open.ts'
import type { LogRequest, Opener, OpenLog, Prefetch } from './text/open.ts'

/** Opens a log: here it is decided whether it is joined from many objects or a file with its predecessors. */
export async function openLog(
  opener: Opener,
  request: LogRequest,
  prefetch?: Prefetch,
  reach: Reach = EVERYTHING,
): Promise<OpenLog> {
  const joined = await opener.files.joined?.(request.file)
  return (
    (joined && (await openJoined(opener, joined, request, reach))) ??
    openRotated({ ...opener, charset: request.charset }, request, prefetch)
  )
}
