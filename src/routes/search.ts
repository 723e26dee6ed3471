import type { AnswerLogs, Capability } from '../core/capability.ts'
import type { QueryRoutes } from './query-routes.ts'

/**
 * Searching a log: filters, pages, records, CSV and exports, charts, fields, groups, and downloads. It reads joined logs and
 * finds a log by its name without a date.
 */
export function search(): Capability {
  return {
    name: 'search',
    parameters: async () => (await import('./parameters/table.ts')).rowsOfCapability('search'),
    joined: () => import('../log/joined/log.ts'),
    add({ node }) {
      if (node === null) return
      node.newestDated = async (...asked) => (await import('../log/rotated/kin.ts')).newestDated(...asked)
      node.queries = async (context) => (await import('./query-routes.ts')).loadQueryRoutes(context, node)
      const by =
        (name: 'histogram' | 'fields' | 'groups'): AnswerLogs =>
        async (request, query, { queries }) =>
          ((await queries()) as QueryRoutes)[name](request, query)
      for (const name of ['histogram', 'fields', 'groups'] as const) node.addLog(name, by(name))
      node.addLog('download', async (request, query, { context, queries }) => {
        const { downloadLog } = await import('./download.ts')
        const queryView: QueryRoutes['view'] = async (...asked) => (await queries()).view(...asked)
        return downloadLog(request, query, { queryView, context })
      })
    },
    preload: () =>
      Promise.all([
        import('./query-routes.ts'),
        import('./download.ts'),
        import('./fields.ts'),
        import('./groups.ts'),
        import('./view/export.ts'),
        import('../log/rotated/names.ts'),
        import('../log/pattern/message.ts'),
        import('../log/regex/dfa.ts'),
        import('../log/where/where.ts'),
      ]),
  }
}
