import type { CommandLine } from '../usage.ts'
import { onlyTargetsOf } from './connect.ts'
import { printableJson } from './output/paint.ts'
import { cleanName, type Style, shownTime } from './output/records.ts'
import { withSpinner } from './output/spinner.ts'
import { FOUND, type World } from './output/world.ts'

/** `nodestate ls`: the log files as a table. */
export async function ls(given: CommandLine, style: Style, world: World): Promise<number> {
  const targets = await onlyTargetsOf(given, world)
  const call = { signal: world.signal }
  for (const { client, name } of targets) {
    if (given.flags.has('names')) {
      const files = await client.list(call)
      await world.stdout.write(files.map((file) => `${cleanName(file.name, style)}\n`).join(''))
      continue
    }
    const files = await withSpinner(world, `listing ${name}`, () => client.detail(call))
    if (style.json) {
      await world.stdout.write(`${printableJson(JSON.stringify(files))}\n`)
      continue
    }
    if (targets.length > 1) await world.stdout.write(`${style.paint.bold(name)}\n`)
    const rows = files.map((file) => [
      String(file.size),
      file.first ? shownTime(file.first, style.zone) : '-',
      file.last ? shownTime(file.last, style.zone) : '-',
      file.kind,
      cleanName(file.name, style),
    ])
    await world.stdout.write(table([['SIZE', 'FIRST', 'LAST', 'KIND', 'NAME'], ...rows], style))
  }
  return FOUND
}

/** Rows in columns: sizes to the right, everything else to the left. */
function table(rows: string[][], style: Style): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const line = (row: string[]) =>
    row
      .map((cell, column) => (column === 0 ? cell.padStart(widths[0]!) : cell.padEnd(widths[column]!)))
      .join('  ')
      .trimEnd()
  return rows.map((row, index) => `${index === 0 ? style.paint.dim(line(row)) : line(row)}\n`).join('')
}
