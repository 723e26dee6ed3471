import { LogError } from '../../log/error.ts'
import { LEVELS } from '../../log/format/detect.ts'
import { lineEnd } from '../../log/format/lines.ts'
import type { Reader } from '../../log/pattern/pattern.ts'
import { Selection } from '../../log/selection.ts'
import { viewOf } from '../../log/view/view.ts'
import type { Bytes } from '../../log/where/where.ts'
import { deadlineOf, filesOf, isSilent, type LogFile, type Search } from './files.ts'
import type { Choice, Labels } from './labels.ts'
import { levelOf } from './pipeline.ts'

/** How many files are searched for their levels. */
const MAX_FILES = 1000

/** The streams that selectors are about, of the whole logs whatever the range, and what is missing among them. */
export async function streamLabelsOf(
  search: Search,
  choices: readonly Choice[],
): Promise<{ streams: Labels[]; warnings: string[] }> {
  const found = new Map<string, Labels>()
  const warnings = new Set<string>()
  for (const choice of choices) {
    const files = await filesOf(search, choice)
    if (files.length > MAX_FILES)
      warnings.add(`Only ${MAX_FILES} of ${files.length} files were searched; narrow the selector.`)
    const isLate = deadlineOf(search, files)
    for (const of of files.slice(0, MAX_FILES)) {
      const { node, file } = of
      const { levels, isComplete } = await levelsIn(of, choice, search.signal)
      for (const level of levels) {
        const labels: Labels = level < 0 ? { file, node } : { file, level: LEVELS[level]!, node }
        found.set(JSON.stringify(labels), labels)
      }
      if (!isComplete) warnings.add(`Not all of ${file} could be searched: levels may be missing.`)
      if (!isLate()) continue
      warnings.add('The search took more time than one request may; narrow the selector to fewer files.')
      break
    }
  }
  return { streams: [...found.values()], warnings: [...warnings] }
}

/** Whether lines belong to no record, because they come before the first one. They have no time, so they are no entries. */
function isBeforeFirst({ bytes, from, to }: Bytes, { format }: Reader): boolean {
  return !format.inner && !format.starts(bytes, from, lineEnd(bytes, from, to))
}

/** The levels of a log's records, newest first; -1 is none. The search ends when all that are wanted were seen. */
async function levelsIn({ context, file }: LogFile, { levels }: Choice, signal: AbortSignal) {
  const seen = new Set<number>()
  const matcher = {
    test(bytes: Uint8Array, from: number, to: number, reader?: Reader): boolean {
      const level = levelOf({ bytes, from, to }, reader!)
      if (levels.has(level) && !isBeforeFirst({ bytes, from, to }, reader!)) seen.add(level)
      return seen.size === levels.size
    },
  }
  try {
    const view = await viewOf(
      context,
      {
        file,
        rotated: false,
        cursor: null,
        selection: new Selection({ matcher }),
        records: true,
        each: true,
        fit: { size: context.limits.answerBytes, lines: 1 },
      },
      signal,
    )
    view.memory?.release()
    const isCut = view.notes.some((note) => note === 'scan-budget' || note === 'archive-cut')
    const isComplete = seen.size === levels.size || !isCut
    // Without times, a file has no entries.
    return { levels: view.format.timed ? [...seen] : [], isComplete }
  } catch (error) {
    // One file that cannot be read does not hide the others.
    if (error instanceof LogError) return { levels: [], isComplete: isSilent(error) }
    throw error
  }
}
