import { bad, show } from '../../core/http/params.ts'
import type { Query } from '../../core/query.ts'
import type { GroupsRequest } from '../../log/groups/count.ts'
import { missing } from './meaning.ts'
import { DEFAULT_GROUPS } from './table.ts'

/** How records are grouped, and which groups are shown. */
export function groupsRequest({ by, of, sort = 'count', limit = DEFAULT_GROUPS }: Query): GroupsRequest {
  if (by === undefined) throw missing('by')
  if (of === undefined && sort !== 'count' && sort !== 'errors')
    throw bad(
      'sort',
      `is ${show(sort)}, which needs numbers; add of with a numeric field, or sort by count or errors`,
    )
  return { by, of: of ?? null, sort, limit }
}
