import { type Listing, type LogFiles, unknownFile } from './files.ts'
import { includeFilter } from './include.ts'

/** The log files that match one of the patterns; the others seem not to exist. Without patterns there are no files. */
export function narrowFiles(files: LogFiles, patterns: readonly string[]): LogFiles {
  const included = patterns.length === 0 ? () => false : includeFilter(patterns)
  // One narrowed listing per listing, so that it is rendered once.
  const listings = new WeakMap<Listing, Listing>()
  return {
    async list(signal) {
      const all = await files.list(signal)
      const known = listings.get(all)
      if (known) return known
      const listing = { ...all, entries: all.entries.filter((entry) => included(entry.key)) }
      listings.set(all, listing)
      return listing
    },
    async *each(after, signal) {
      for await (const entry of files.each(after, signal)) if (included(entry.key)) yield entry
    },
    async startingWith(prefix, signal) {
      return (await files.startingWith(prefix, signal)).filter((entry) => included(entry.key))
    },
    async stat(name, signal) {
      return included(name) ? files.stat(name, signal) : unknownFile()
    },
    async read(name, range, options) {
      return included(name) ? files.read(name, range, options) : unknownFile()
    },
    keptTail: (name, suffix, isKnown) =>
      included(name) ? files.keptTail?.(name, suffix, isKnown) : undefined,
    ...(files.joined && { joined: async (name) => (included(name) ? files.joined!(name) : null) }),
    revision: () => files.revision?.() ?? null,
    watch: (name, changed) => (included(name) ? files.watch(name, changed) : null),
  }
}
