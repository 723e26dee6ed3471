import { each } from '../../limits/each.ts'
import { LogError } from '../../log/error.ts'
import { type CountedGroups, groupsAnswer, groupsOf } from '../../log/groups/count.ts'
import { Groups } from '../../log/groups/groups.ts'
import { bySource, type Missing } from '../../log/merge/source.ts'
import type { GroupsNote } from '../../log/view/answer.ts'
import { StoreError } from '../../store/store.ts'
import { groupsRequest } from '../parameters/groups-request.ts'
import type { Query } from '../parameters/read.ts'
import { readViewRequest } from '../parameters/view-request.ts'
import { type MergedRoute, mergedJson, sourceHeaders } from './route.ts'

/** How many logs are counted at once; each may take the memory of one count. */
const LOGS_AT_ONCE = 2

/** `GET /api/v1/log/groups` of several logs: their records together. */
export async function mergedGroups(request: Request, query: Query, route: MergedRoute): Promise<Response> {
  const wanted = groupsRequest(query)
  const { asked, clock } = await readViewRequest(query, route, true)
  const { sources, ...rest } = await route.pick(query, request.signal)
  if (request.method === 'HEAD') return mergedJson(request, null, {}, false)
  const groups = new Groups()
  const notes = new Set<GroupsNote>()
  const missing: Missing[] = []
  let complete = true
  await each(sources.toSorted(bySource), LOGS_AT_ONCE, async ({ context, file, name }) => {
    const one = { ...asked, ...wanted, file, rotated: true }
    try {
      const found: CountedGroups = (await groupsOf(context, one, () => false, request.signal))!
      groups.merge(found.groups)
      for (const note of found.notes) notes.add(note)
      complete &&= found.complete
    } catch (error) {
      request.signal.throwIfAborted()
      if (!(error instanceof LogError || error instanceof StoreError)) throw error
      missing.push({ name, error })
    }
  })
  if (missing.length === sources.length)
    throw (missing.find(({ error }) => error instanceof StoreError) ?? missing[0]!).error
  const { body, notes: told } = groupsAnswer({ groups, complete, notes: [...notes] }, wanted)
  const headers = sourceHeaders({ ...rest, missing: [...rest.missing, ...missing] }, told)
  return mergedJson(request, body, headers, !clock && complete)
}
