import type { FleetNode, LogFile, LogFileDetail } from '../client.ts'
import type { CommandLine } from '../settings/usage.ts'
import { eachTarget, onlyTargetsOf, type Target, wantsNodes } from './connect.ts'
import { logName, notFleet } from './logs.ts'
import { printableJson } from './output/paint.ts'
import { cleanName, type Style, shownTime } from './output/records.ts'
import { withSpinner } from './output/spinner.ts'
import { FOUND, type World } from './output/world.ts'

/** `nodestate ls`: the log files, or the nodes of a fleet, as a table. */
export async function ls(given: CommandLine, style: Style, world: World): Promise<number> {
  const targets = await onlyTargetsOf(given, world)
  const isBrief = given.flags.has('names')
  return eachTarget(targets, world, async (target) => {
    const { answer, names, rows } = await withSpinner(world, `listing ${target.name}`, () =>
      filesOf(target, given, style, world).catch((error) => {
        if (!given.flags.has('node') && wantsNodes(error)) return nodesOf(target, style, world)
        throw error
      }),
    )
    const shown = names.map((name) => cleanName(name, style))
    const heading = targets.length > 1 ? `${style.paint.bold(target.name)}\n` : ''
    if (isBrief) await world.stdout.write(shown.map((name) => `${name}\n`).join(''))
    else if (style.json) await world.stdout.write(`${printableJson(JSON.stringify(answer))}\n`)
    else await world.stdout.write(heading + table(rows, shown, style))
    return FOUND
  })
}

/** A list: the answer itself, the names in it, and a table without them. */
interface Listing {
  answer: readonly object[]
  names: string[]
  rows: string[][]
}

async function filesOf({ client }: Target, given: CommandLine, style: Style, world: World): Promise<Listing> {
  const node = given.flags.get('node')
  const call = { signal: world.signal, ...(node && { node }) }
  const answer: (LogFile & Partial<LogFileDetail>)[] = await (given.flags.has('names')
    ? client.list(call)
    : client.detail(call))
  if (node !== undefined && answer.some((file) => file.node === undefined)) throw notFleet()
  const rows = answer.map(({ size, first, last, kind = '' }) => [
    String(size),
    timeText(first, style),
    timeText(last, style),
    kind,
  ])
  const names = answer.map((file) => logName(file.node, file.name))
  return { answer, names, rows: [['SIZE', 'FIRST', 'LAST', 'KIND', 'NAME'], ...rows] }
}

async function nodesOf({ client }: Target, style: Style, world: World): Promise<Listing> {
  const answer = await client.nodes({ signal: world.signal })
  const count = (value: number | null) => (value === null ? '-' : String(value))
  const rows = answer.map(({ errors, warnings, lastLine, lag, shipped, node, error }: FleetNode) => [
    count(errors),
    count(warnings),
    timeText(lastLine === null ? null : new Date(lastLine).toISOString(), style),
    count(lag),
    timeText(shipped, style),
    cleanName(error ?? node?.version ?? '-', style),
  ])
  const head = ['ERRORS', 'WARNINGS', 'LAST LINE', 'LAG', 'SHIPPED', 'VERSION', 'NODE']
  return { answer, names: answer.map(({ id }) => id), rows: [head, ...rows] }
}

function timeText(time: string | null | undefined, style: Style): string {
  return time ? shownTime(time, style.zone) : '-'
}

/** Rows in columns, the first row as a heading: numbers to the right, everything else to the left. */
function table([head, ...rows]: string[][], names: readonly string[], style: Style): string {
  const all = [head!, ...rows.map((row, index) => [...row, names[index]!])]
  const columns = head!.map((_, column) => all.map((row) => row[column]!))
  const widths = columns.map((cells) => Math.max(...cells.map((cell) => cell.length)))
  const isNumber = columns.map(([, ...cells]) => cells.every((cell) => /^(\d+|-)$/.test(cell)))
  const line = (row: string[]) =>
    row
      .map((cell, column) =>
        isNumber[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
      )
      .join('  ')
      .trimEnd()
  return all.map((row, index) => `${index === 0 ? style.paint.dim(line(row)) : line(row)}\n`).join('')
}
