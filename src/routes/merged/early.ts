import type { MergedPage } from '../../log/merge/merge.ts'
import type { Source } from '../../log/merge/source.ts'
import type { Query } from '../parameters/read.ts'
import type { MergedRoute, Sources } from './route.ts'

type PageOf = (picked: Sources, signal: AbortSignal) => Promise<MergedPage>

/**
 * Picks the logs of a request and reads their page. Where the logs of the last such request are remembered, their page is
 * read while the nodes list their files, and used only if these are unchanged. This saves one round trip to each peer.
 */
export async function pickedPage(
  query: Query,
  route: MergedRoute,
  signal: AbortSignal,
  pageOf: PageOf,
): Promise<{ picked: Sources; page: MergedPage }> {
  const guess = route.guess?.(query)
  if (!guess) {
    const picked = await route.pick(query, signal)
    return { picked, page: await pageOf(picked, signal) }
  }
  const wrong = new AbortController()
  const early = pageOf(guess, AbortSignal.any([signal, wrong.signal]))
  // It may fail before anybody waits for it.
  early.catch(() => {})
  const leave = () => {
    wrong.abort()
    early.then(({ release }) => release()).catch(() => {})
  }
  try {
    const picked = await route.pick(query, signal)
    if (isAlike(guess, picked)) return { picked, page: await early }
    leave()
    return { picked, page: await pageOf(picked, signal) }
  } catch (error) {
    leave()
    throw error
  }
}

/** Whether a page of these logs is the same. What else is missing is not part of the page. */
function isAlike(a: Sources, b: Sources): boolean {
  const isSame = (one: Source, other: Source | undefined) =>
    one.name === other?.name &&
    one.file === other.file &&
    one.log === other.log &&
    one.context === other.context &&
    areEqual(one.files, other.files)
  return (
    a.sources.length === b.sources.length &&
    a.sources.every((source, i) => isSame(source, b.sources[i])) &&
    areEqual(a.unlisted ?? [], b.unlisted ?? [])
  )
}

function areEqual(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, i) => name === b[i])
}
