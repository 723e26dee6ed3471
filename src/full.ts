import type { Capability } from './core/capability.ts'
import { loki } from './doors/loki.ts'
import { mcp } from './doors/mcp.ts'
import { metrics } from './doors/metrics.ts'
import { openapi } from './doors/openapi.ts'
import { page } from './doors/page.ts'
import { follow } from './routes/follow.ts'
import { insight } from './routes/insight/insight.ts'
import { search } from './routes/search.ts'
import { timeline } from './routes/timeline.ts'

export type { Capability } from './core/capability.ts'
export { follow, insight, loki, mcp, metrics, openapi, page, search, timeline }

/** Everything that the command serves: the one list of capabilities. Each loads its code with its first request. */
export function full(): Capability[] {
  return [search(), follow(), timeline(), insight(), loki(), mcp(), openapi(), metrics(), page()]
}
