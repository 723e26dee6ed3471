import type { EveryMember } from '../../store/store.ts'
import { LogError } from '../error.ts'
import { type Listing, type LogFiles, unknownFile } from './files.ts'
import { includeFilter } from './include.ts'

/** Parts of a list without a file that may be seen, each listed for three seconds at most, before it is given up. */
const MOST_PARTS = 10

/** The log files that match one of the patterns; the others seem not to exist. Without patterns there are no files. */
export function narrowFiles(files: LogFiles, patterns: readonly string[]): EveryMember<LogFiles> {
  const included = patterns.length === 0 ? () => false : includeFilter(patterns)
  // One narrowed listing per listing, so that it is rendered once.
  const listings = new WeakMap<Listing, Listing>()
  return {
    isNear: files.isNear,
    async list(signal) {
      const all = await files.list(signal)
      const known = listings.get(all)
      if (known) return known
      const listing = { ...all, entries: all.entries.filter((entry) => included(entry.key)) }
      listings.set(all, listing)
      return listing
    },
    async part(after, most, signal) {
      let from = after
      for (let parts = 0; parts < MOST_PARTS; parts++) {
        const part = await files.part(from, most, signal)
        const entries = part.entries.filter((entry) => included(entry.key))
        // The client sees `next`, so it must not name a file that the client may not see.
        const next = part.next && (entries.at(-1)?.key ?? null)
        if (next !== null || part.next === null) return { ...part, entries, next }
        from = part.next
      }
      throw new LogError(
        'too-busy',
        'There are too many files to find yours among them in time; ask for a file by its name.',
      )
    },
    async *each(after, signal) {
      for await (const entry of files.each(after, signal)) if (included(entry.key)) yield entry
    },
    async startingWith(prefix, signal) {
      return (await files.startingWith(prefix, signal)).filter((entry) => included(entry.key))
    },
    async stat(name, signal, maxAge) {
      return included(name) ? files.stat(name, signal, maxAge) : unknownFile()
    },
    async read(name, range, options) {
      return included(name) ? files.read(name, range, options) : unknownFile()
    },
    spans:
      files.spans && (async (entry, signal) => (included(entry.key) ? files.spans!(entry, signal) : null)),
    joined: files.joined && (async (name) => (included(name) ? files.joined!(name) : null)),
    revision: () => files.revision?.() ?? null,
    watch: (name, changed) => (included(name) ? files.watch(name, changed) : null),
  }
}
