import { SCAN_MILLIS } from '../../../src/log/options.ts'
import { type Answer, ask, filtersOf, instantsOf, parametersOf, type Query } from '../ask.ts'
import type { Log } from '../logs.ts'
import { type Found, Reference } from '../reference.ts'
import type { Service, World } from '../world.ts'
import { type Comparison, comparePart, compareRecords, type Kind } from './comparison.ts'
import { LOKI } from './loki.ts'
import { MERGED } from './merged.ts'
import { SINGLE } from './single.ts'

export const KINDS: Readonly<Record<string, Kind>> = { ...SINGLE, ...MERGED, ...LOKI }

/** A comparison as data. */
export interface Asked {
  /** For messages, such as `agreement 3, step 12`. */
  who: string
  kind: string
  log: Log
  query: Query
  lines: number
}

/** Asks a service in a still moment, and compares what it says with what the reference says. */
export async function agree(world: World, service: Service, asked: Asked): Promise<void> {
  const { who, kind, log, query, lines } = asked
  const reference = new Reference(service.filesOf(log))
  if (log.lines.length === 0 || reference.text(false) === null) return
  const instants = instantsOf(world, log, query)
  const choice = { level: query.level, q: query.q, filters: filtersOf(query), ...instants }
  const chosen = reference.chosen(query.rotated, choice)
  const question = (more: Record<string, string | number>) => parametersOf(world, log, query, more).toString()
  const differs = (what: string) => world.break('all readers agree', `${who} (${kind}): ${what}`)
  /** What a search found before it ended early is right, too. Records of a timeline say which log they are of. */
  const comparePieces = (ndjson: string) => {
    const records = ndjson.split('\n').filter(Boolean)
    const fileOf = (record: string) => (JSON.parse(record) as { file?: string }).file
    for (const file of new Set(records.map(fileOf))) {
      const own = file === undefined ? null : new Reference(service.filesOf(world.log(file)))
      const part = records.filter((record) => fileOf(record) === file).join('\n')
      comparePart(part, own?.chosen(true, choice) ?? chosen, differs)
    }
  }
  const comparison: Comparison = {
    world,
    service,
    log,
    reference,
    query,
    choice,
    lines,
    chosen,
    searched: reference.records(query.rotated).length,
    question,
    get: async (path, headers) => {
      const answer = await get(world, {
        service,
        who,
        path,
        headers,
        isNothing: chosen.every(({ time }) => time === null),
      })
      if (!answer?.notes.includes('scan-budget')) return answer
      if (path.includes('format=ndjson')) comparePieces(answer.text)
      return isLate(answer) ? null : answer
    },
    compare: (ndjson: string, expected: readonly Found[]) => compareRecords(ndjson, expected, differs),
    differs,
  }
  await KINDS[kind]!(comparison)
}

interface Request {
  service: Service
  who: string
  path: string
  headers: Record<string, string> | undefined
}

interface Question extends Request {
  /** Whether nothing was chosen. */
  isNothing: boolean
}

/** On a slow disk that many ask at once, a search may take all of its time. */
function isLate({ notes, from, to }: Answer): boolean {
  return notes.includes('scan-budget') && to - from >= SCAN_MILLIS
}

/** How often a client that is told to come back later does so. */
const MOST_RETRIES = 6

/** An answer. Many comparisons at once may take all slots of searches: then it asks again when it is told to. */
async function askInTurn(world: World, { service, who, path, headers }: Request): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    const answer = await ask(world, who, path, { headers, service })
    const isBusy = answer.status === 503 && answer.text.startsWith('Too many searches')
    const seconds = Number(answer.headers.get('Retry-After'))
    if (!isBusy || !(seconds > 0) || tries > MOST_RETRIES) return answer
    await world.kernel.sleep(seconds * 1000)
  }
}

/** An answer; null if there is none. A note must be true. */
async function get(
  world: World,
  { service, who, path, headers, isNothing }: Question,
): Promise<Answer | null> {
  const answer = await askInTurn(world, { service, who, path, headers })
  // Small logs fit into every budget, and nothing is damaged: only a clock that stepped is worth a word.
  const isSteady = () => world.logs.every((one) => new Reference(service.filesOf(one)).isInOrder(true))
  // Rising numbers are rare: where records and times of change say nothing, the order is a guess. So it is for a file with
  // a header alone beside an archive with a new time.
  const isVague = ({ settings: { rising, header, touched } }: Log) =>
    rising || (header !== undefined && touched)
  const isGuess = answer.notes.includes('family-order') && world.logs.some(isVague)
  const isText = () =>
    world.logs.every((one) => !new Reference(service.filesOf(one)).text(true)?.includes('\uFFFD'))
  const hasInvalidUtf8 = (note: string) => {
    if (note === 'encoding') return isText()
    if (note === 'scan-budget' && isLate(answer)) return false
    return note === 'unknown-field' ? !isNothing : !isGuess && isSteady()
  }
  const odd = answer.notes.find((note) => !service.mayNote?.includes(note) && hasInvalidUtf8(note))
  if (answer.status === 200 && odd !== undefined)
    world.break('a note is true', `${who} got ${odd} for ${path}`)
  if ([200, 206].includes(answer.status) && answer.cut === null) return isGuess ? null : answer
  // Loki's clients know no notes: a search that took all of its time is a 504.
  if (answer.status === 504 && answer.to - answer.from >= SCAN_MILLIS) return null
  // A log of which no line was ever complete has no format yet.
  if (/no-time|no-level/.test(answer.text) && isNothing) return null
  // Archives that take more than a small budget are refused, with the advice to download them.
  if (service.mayNote?.includes('scan-budget') && answer.text.includes('archive-budget')) return null
  world.break('all readers agree', `${who} got ${answer.status} ${answer.cut ?? answer.text} for ${path}`)
  return null
}
