import { type CallOptions, type Client, type LogFile, ProblemError } from '../client.ts'
import type { CommandLine } from '../usage.ts'
import { onlyTargetsOf, type Target } from './connect.ts'
import { printableJson } from './output/paint.ts'
import { cleanName, type Style, shownTime } from './output/records.ts'
import { withSpinner } from './output/spinner.ts'
import { FOUND, type World } from './output/world.ts'

/** `nodestate ls`: the log files as a table. */
export async function ls(given: CommandLine, style: Style, world: World): Promise<number> {
  const targets = await onlyTargetsOf(given, world)
  const node = given.flags.get('node')
  const call = { signal: world.signal, ...(node && { node }) }
  const full = (file: LogFile) => cleanName(file.node ? `${file.node}/${file.name}` : file.name, style)
  for (const { client, name } of targets) {
    if (node === undefined && (await isFleet(client, call))) {
      await listNodes({ client, name }, { given, style, world })
      continue
    }
    if (given.flags.has('names')) {
      const files = await client.list(call)
      await world.stdout.write(files.map((file) => `${full(file)}\n`).join(''))
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
      full(file),
    ])
    await world.stdout.write(table([['SIZE', 'FIRST', 'LAST', 'KIND', 'NAME'], ...rows], style))
  }
  return FOUND
}

/** Whether a fleet answers: it lists logs only of nodes that are named. */
async function isFleet(client: Client, call: CallOptions): Promise<boolean> {
  try {
    await client.list(call)
    return false
  } catch (error) {
    if (error instanceof ProblemError && error.code === 'bad-parameter' && /\bnode\b/.test(error.message))
      return true
    throw error
  }
}

/** The nodes of a fleet as a table. */
async function listNodes(
  { client, name }: Target,
  { given, style, world }: { given: CommandLine; style: Style; world: World },
): Promise<void> {
  const nodes = await withSpinner(world, `listing ${name}`, () => client.nodes({ signal: world.signal }))
  const ids = nodes.map(({ id }) => cleanName(id, style))
  if (style.json) await world.stdout.write(`${printableJson(JSON.stringify(nodes))}\n`)
  else if (given.flags.has('names')) await world.stdout.write(ids.map((id) => `${id}\n`).join(''))
  else {
    const rows = nodes.map(({ lag, shipped, node, error }, i) => [
      lag === null ? '-' : String(lag),
      shipped ? shownTime(shipped, style.zone) : '-',
      cleanName(error ?? node?.version ?? '-', style),
      ids[i]!,
    ])
    await world.stdout.write(table([['LAG', 'SHIPPED', 'VERSION', 'NODE'], ...rows], style))
  }
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
