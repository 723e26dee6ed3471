import type { Query } from '../../core/query.ts'
import { concurrencyLimit } from '../../kit/limits/concurrency-limit.ts'
import { each } from '../../kit/limits/each.ts'
import { LogError } from '../../log/error.ts'
import { type CountedGroups, type Grouping, groupsAnswer, groupsOf } from '../../log/groups/count.ts'
import { Groups } from '../../log/groups/groups.ts'
import { bySource, ELSEWHERE_AT_ONCE, type Missing } from '../../log/merge/source.ts'
import type { GroupsNote } from '../../log/view/answer.ts'
import { sharingTime } from '../../log/view/context.ts'
import { StoreError } from '../../store/store.ts'
import { groupsRequest } from '../parameters/groups-request.ts'
import { handedQuery } from '../parameters/query-text.ts'
import { readViewRequest } from '../parameters/view-request.ts'
import { type MergedRoute, mergedJson, sourceHeaders } from './route.ts'

/** How many logs are counted at once here, each of which may take the memory of one count. */
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
  const handedOn = handedQuery(query, asked.selection)
  const here = concurrencyLimit({ most: LOGS_AT_ONCE })
  const inTime = sharingTime(route.clock)
  await each(sources.toSorted(bySource), ELSEWHERE_AT_ONCE, async (source) => {
    const { context, file, name } = source
    const one = { ...asked, ...wanted, file, rotated: true }
    const reader = handedOn === null ? undefined : route.readerOf?.(source)
    const there = reader?.group(laneQuery(file, wanted, handedOn!), request.signal)
    try {
      const count = async () => {
        const timed = inTime(context)
        return timed && groupsOf(timed, one, () => false, request.signal)
      }
      const found: CountedGroups | null = (await there) ?? (await here.run(count, request.signal))
      complete &&= found?.complete === true
      if (found === null) return
      groups.merge(found.groups)
      for (const note of found.notes) notes.add(note)
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

/** The same request for one log, to be counted on its own node. */
function laneQuery(file: string, { by, of }: Grouping, handedOn: string): string {
  const names = { file, rotated: 'true', lane: 'true', by, ...(of !== null && { of }) }
  return `${new URLSearchParams(names)}${handedOn && `&${handedOn}`}`
}
