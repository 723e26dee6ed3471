import type { CommandLine } from '../../kit/usage.ts'
import type { Completeness, Entries, FleetNode, LogFile, LogFileDetail } from '../client.ts'
import { eachTarget, onlyTargetsOf, type Target, wantsNodes } from './nodes/connect.ts'
import { logName, notFleet } from './nodes/logs.ts'
import { complain, SENTENCES } from './output/notes.ts'
import { type Style, shownTime } from './output/records.ts'
import { cleanName, joined, padded, printable, printableJson, type Shown, show } from './output/shown.ts'
import { withSpinner } from './output/spinner.ts'
import { FOUND, TROUBLE, type World } from './output/world.ts'

/** `nodestate ls`: the log files, or the nodes of a fleet, as a table. */
export async function ls(given: CommandLine, style: Style, world: World): Promise<number> {
  const targets = await onlyTargetsOf(given, world)
  const isBrief = given.flags.has('names')
  return eachTarget(targets, world, async (target) => {
    const { answer, names, rows, ...lacks } = await withSpinner(world, `listing ${target.name}`, () =>
      filesOf(target, given, style, world).catch((error) => {
        if (!given.flags.has('node') && wantsNodes(error)) return nodesOf(target, style, world)
        throw error
      }),
    )
    const shown = names.map((name) => cleanName(name, style))
    const heading = targets.length > 1 ? show`${style.paint.bold(cleanName(target.name, style))}\n` : show``
    if (isBrief) await world.stdout.write(joined(shown.map((name) => show`${name}\n`)))
    else if (style.json) await world.stdout.write(show`${printableJson(JSON.stringify(answer))}\n`)
    else await world.stdout.write(show`${heading}${table(rows, shown, style)}`)
    for (const note of lacks.notes) await complain(world, SENTENCES[note] ?? `note: ${note}`)
    for (const { name, reason } of lacks.missing)
      await complain(
        world,
        reason === '' ? `${name} more were not listed.` : `${name} was not listed: ${reason}.`,
      )
    return lacks.missing.length > 0 ? TROUBLE : FOUND
  })
}

/** A list: the answer itself, the names in it, and a table without them. */
interface Listing extends Completeness {
  answer: readonly object[]
  names: string[]
  rows: Shown[][]
}

async function filesOf({ client }: Target, given: CommandLine, style: Style, world: World): Promise<Listing> {
  const node = given.flags.get('node')
  const call = { signal: world.signal, ...(node && { node }) }
  const { entries: answer, ...lacks }: Entries<LogFile & Partial<LogFileDetail>> = await (given.flags.has(
    'names',
  )
    ? client.list(call)
    : client.list({ ...call, detail: true }))
  if (node !== undefined && answer.some((file) => file.node === undefined)) throw notFleet()
  const rows = answer.map(({ size, first, last, kind = '' }) => [
    sizeText(size, style),
    timeText(first, style),
    timeText(last, style),
    cleanName(kind, style),
  ])
  const names = answer.map((file) => logName(file.node, file.name))
  return {
    ...lacks,
    answer,
    names,
    rows: [['SIZE', 'FIRST', 'LAST', 'KIND', 'NAME'].map(printable), ...rows],
  }
}

async function nodesOf({ client }: Target, style: Style, world: World): Promise<Listing> {
  const { entries: answer, ...lacks } = await client.nodes({ signal: world.signal })
  const count = (value: number | null) => cleanName(value ?? '-', style)
  const rows = answer.map(({ errors, warnings, lastLine, lag, shipped, node, error }: FleetNode) => [
    count(errors),
    count(warnings),
    timeText(lastLine, style),
    lag === null ? count(null) : sizeText(lag, style),
    timeText(shipped, style),
    cleanName(error ?? node?.version ?? '-', style),
  ])
  const head = ['ERRORS', 'WARNINGS', 'LAST LINE', 'LAG', 'SHIPPED', 'VERSION', 'NODE']
  return { ...lacks, answer, names: answer.map(({ id }) => id), rows: [head.map(printable), ...rows] }
}

/** Bytes for people, as the page shows them: `1.4 MB`, in powers of 1024. The exact number is in `--json`. */
function sizeText(bytes: number, style: Style): Shown {
  if (typeof bytes !== 'number' || bytes < 1024) return cleanName(`${bytes} B`, style)
  let value = bytes / 1024
  let unit = 0
  for (; value >= 1023.95 && unit < UNITS.length - 1; unit++) value /= 1024
  return cleanName(`${value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`, style)
}

const UNITS = ['KB', 'MB', 'GB', 'TB', 'PB']

function timeText(time: string | number | null | undefined, style: Style): Shown {
  return time === null || time === undefined || time === '' ? show`-` : shownTime(time, style)
}

/** Rows in columns, the first row as a heading: numbers to the right, everything else to the left. */
function table([head, ...rows]: Shown[][], names: readonly Shown[], style: Style): Shown {
  const all = [head!, ...rows.map((row, index) => [...row, names[index]!])]
  const columns = head!.map((_, column) => all.map((row) => row[column]!))
  const widths = columns.map((cells) => cells.reduce((most, cell) => Math.max(most, cell.length), 0))
  const isNumber = columns.map(([, ...cells]) =>
    cells.every((cell) => /^(\d[\d.]*( [KMGTP]?B)?|-)$/.test(cell)),
  )
  const cellIn = (cell: Shown, column: number) => {
    if (isNumber[column]) return padded(cell, widths[column]!, 'left')
    return column === head!.length - 1 ? cell : padded(cell, widths[column]!, 'right')
  }
  const line = (row: Shown[]) => joined(row.map(cellIn), '  ')
  return joined(all.map((row, index) => show`${index === 0 ? style.paint.dim(line(row)) : line(row)}\n`))
}
