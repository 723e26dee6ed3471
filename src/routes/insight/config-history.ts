import { readable } from '../../core/config.ts'
import { claim } from '../../core/http/caller.ts'
import { jsonResponse, noneMatchNames, notModified, textTag } from '../../core/http/conditional.ts'
import { Problem } from '../../core/http/problem.ts'
import { noteHeader } from '../../core/http/sliced.ts'
import type { createConfigReader } from '../../core/node/config.ts'
import { openVersions, type VersionSource } from '../../core/node/versions.ts'
import type { Query } from '../../core/query.ts'
import type { Lease } from '../../kit/limits/memory-budget.ts'
import { VERSION } from '../../kit/version.ts'
import { LogError } from '../../log/error.ts'
import { budgetOf, runInSlot, type ViewContext } from '../../log/view/context.ts'
import { instantOf } from '../parameters/meaning.ts'
import { DEFAULT_VERSIONS } from '../parameters/table.ts'
import { ConfigHistory } from './config/history.ts'

/** `GET /api/v1/config/history`, and what other routes need of the earlier versions. */
export function configHistory(
  versions: VersionSource,
  config: ReturnType<typeof createConfigReader>,
  context: ViewContext,
) {
  const history = new ConfigHistory(openVersions(versions), config)
  return {
    changed: () => history.changed(),
    show: (request: Request, query: Query) => showHistory(request, query, { history, context }),
    /** The versions that were first seen in a period, oldest first; fewer if the budget is spent. */
    async between({ from, to }: { from: number; to: number }, signal: AbortSignal) {
      const stored = await history.versions.list({ until: to - 1, limit: MOST_BETWEEN + 1, signal })
      const found = stored.filter(({ time }) => time > from).length
      const limit = Math.min(found, MOST_BETWEEN)
      const { parallel = 1 } = context
      const budget = budgetOf(context, signal)
      const entries = await history.entries(stored.slice(0, limit + 1), limit, { budget, parallel })
      return { versions: entries.reverse(), complete: entries.length === found }
    },
    /** The version that held at a time, as a request writes it. */
    async at(text: string, signal: AbortSignal) {
      const { at, clock } = instantOf('at', text, { zone: context.zone, now: context.clock.now() })!
      const budget = budgetOf(context, signal)
      const found = await runInSlot(context.scans, budget, () => history.at(at, budget, leaseIn(context)))
      if (found) return { ...found, clock }
      throw new Problem(
        'no-version',
        'No version of the configuration is known from that time; ask for a later one, or see /api/v1/config/history.',
      )
    },
  }
}

/** How many versions are compared with each other at most. */
const MOST_BETWEEN = 40

/** Memory for a version of so many bytes. */
function leaseIn({ memory }: ViewContext): (bytes: number) => Lease | null {
  return (bytes) => {
    const lease = memory?.lease(bytes)
    if (lease !== null) return lease ?? null
    throw new LogError(
      'too-busy',
      'This version takes more memory than is free; try again in a few seconds, or give the service more memory.',
    )
  }
}

async function showHistory(
  request: Request,
  { limit = DEFAULT_VERSIONS }: Query,
  { history, context }: { history: ConfigHistory; context: ViewContext },
): Promise<Response> {
  claim(request)
  const { signal } = request
  const stored = await history.versions.list({ limit: limit + 1, signal })
  const budget = budgetOf(context, signal)
  const present = stored.length === 0 ? await readable(() => history.present(budget)) : null
  const body = present && JSON.stringify([present])
  // Versions never change, and what is shown of them only with the rules of masking.
  const etag = textTag(body ?? `${VERSION} ${limit} ${stored.map(({ key }) => key).join()}`)
  if (noneMatchNames(request.headers.get('If-None-Match'), etag)) return notModified(etag)
  if (body !== null || request.method === 'HEAD') return jsonResponse(request, body ?? '', etag)
  const { parallel = 1 } = context
  const entries = await runInSlot(context.scans, budget, () =>
    history.entries(stored, limit, { budget, parallel }),
  )
  const isWhole = entries.length === Math.min(limit, stored.length)
  const note = noteHeader([!isWhole && 'scan-budget'])
  return jsonResponse(request, JSON.stringify(entries), isWhole ? etag : null, note)
}
