import { each } from '../../kit/limits/each.ts'
import { compressionOf, SIGNATURE_BYTES } from '../../store/codec/kind.ts'
import type { Entry } from '../../store/store.ts'
import { ArchiveText } from '../text/archive.ts'
import { collect } from '../text/bytes.ts'
import type { Opener } from '../text/open.ts'
import { PlainText, type Text } from '../text/text.ts'
import type { SearchWindow } from './reach.ts'

/** Members fetched in parallel: for each parallel read of a large file, and the minimum. */
const PER_READ = 4
const LEAST_AT_ONCE = 8
/** Stored bytes in flight, unless the minimum of members exceeds it. */
const IN_FLIGHT = 4 * 1024 * 1024
/** Text that stays in memory until it is read. */
const HELD = 16 * 1024 * 1024

/** Members that are fetched ahead of a search, at least. */
const LEAST_AHEAD = 4
/** Stored bytes that are fetched in parallel before they are needed: of the end of a log, and of a period. */
const MAX_PREFETCH = 8 * 1024 * 1024
const MAX_PERIOD = 32 * 1024 * 1024
/** The compression ratio that is assumed until a member has been read. */
const LIKELY_RATIO = 8

/** Fetches members in parallel, which tells their sizes. Small ones cost little but the round trip. */
export async function fetchMembers(parts: readonly Text[], parallel = 1): Promise<void> {
  const largest = parts.reduce((most, { entry }) => Math.max(most, entry.size), 1)
  const fitting = Math.min(Math.floor(IN_FLIGHT / largest), PER_READ * parallel)
  let held = 0
  await each(parts, Math.max(LEAST_AT_ONCE, fitting), async (part) => {
    held += await part.size()
    if (held > HELD) await part.release?.()
  })
}

/**
 * Fetches what will be needed in parallel. Returns how many members to fetch ahead of the reader. How much text a
 * member has is known only after it was read, so a tail takes more of them until it has enough.
 */
export async function fetchAhead(
  parts: readonly Text[],
  { wanted, bytes, period }: SearchWindow,
  parallel = 1,
) {
  const stored = parts.reduce((sum, { entry }) => sum + entry.size, 0)
  // What is fetched ahead must still be kept when it is needed.
  const ahead = Math.max(LEAST_AHEAD, Math.min(parallel, Math.floor((MAX_PREFETCH * parts.length) / stored)))
  // Where a period begins is an offset from its end, so all of it is needed.
  if (period.since !== null) {
    if (bytes !== Number.POSITIVE_INFINITY && stored <= MAX_PERIOD) await fetchMembers(parts, parallel)
    return ahead
  }
  if (period.until !== null || wanted === 0) return ahead
  let text = 0
  let read = 0
  for (let end = parts.length; end > 0 && text < wanted; ) {
    const ratio = read === 0 ? LIKELY_RATIO : Math.max(1, text / read)
    let start = end - 1
    let expected = parts[start]!.entry.size
    while (start > 0 && text + expected * ratio < wanted) expected += parts[--start]!.entry.size
    if (read + expected > MAX_PREFETCH) return ahead
    const next = parts.slice(start, end)
    await fetchMembers(next, parallel)
    for (const part of next) text += await part.size()
    read += expected
    end = start
  }
  return 0
}

/**
 * An object of a joined log as text. Shippers compress or not whatever the name says, so its first bytes decide when
 * they are first needed; until then it counts as compressed.
 */
export function memberText(opener: Opener, entry: Entry): Text {
  let text: Text | null = null
  let opening: Promise<Text> | null = null
  const open = () => {
    opening ??= openMember(opener, entry).then((opened) => {
      text = opened
      return opened
    })
    return opening
  }
  return {
    name: entry.key,
    entry,
    compressed: true,
    get broken() {
      return text?.broken ?? null
    },
    get cut() {
      return text?.cut ?? false
    },
    sequential: async () => (await (await open()).sequential?.()) ?? false,
    size: async () => (await open()).size(),
    reaches: async (size) => (await open()).reaches(size),
    read: async (from, to) => (await open()).read(from, to),
    head: async (length) => (await open()).head(length),
    prepare() {
      // A failure shows when the text is read.
      open().catch(() => {})
    },
    release: async () => text?.release?.(),
    onward: async (from) => (await open()).onward?.(from),
    known: (offset) => text?.known(offset) ?? null,
  }
}

async function openMember(opener: Opener, entry: Entry): Promise<Text> {
  const { files, budget } = opener
  if (entry.size === 0) return new PlainText(files, entry, budget)
  const options = { signal: budget.signalFor() }
  const first = await files.read(entry.key, { offset: 0, length: SIGNATURE_BYTES }, options)
  const kind = compressionOf(await collect(first))
  return kind
    ? new ArchiveText({ entry: first.entry, kind }, { ...opener, trustDeclaredSize: false })
    : new PlainText(files, first.entry, budget)
}
