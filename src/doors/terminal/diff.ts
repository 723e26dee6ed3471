import type { CommandLine } from '../../kit/usage.ts'
import type { LogComparison, LogFinding } from '../client.ts'
import { comparedLogs } from './nodes/compared.ts'
import { eachTarget } from './nodes/connect.ts'
import { complain, SENTENCES } from './output/notes.ts'
import { type Style, shownTime } from './output/records.ts'
import { cleanName, joined, padded, printable, printableJson, type Shown, show } from './output/shown.ts'
import { withSpinner } from './output/spinner.ts'
import { FOUND, NOTHING, TROUBLE, type World } from './output/world.ts'

/** Exit codes as in diff. */
const SAME = FOUND
const DIFFERENT = NOTHING

/** `nodestate diff`: what sets a range of time apart from another one, or nodes from other nodes. */
export async function diff(given: CommandLine, style: Style, world: World): Promise<number> {
  const { targets, query, check } = await comparedLogs(given, world)
  return eachTarget(targets, world, async ({ client, name }) => {
    const answer = await withSpinner(world, `comparing ${name}`, () =>
      client.compareLogs(query, { signal: world.signal }).then(check, check),
    )
    const { notes, missing, ...body } = answer
    if (style.json) await world.stdout.write(show`${printableJson(JSON.stringify(body))}\n`)
    else {
      if (targets.length > 1) await world.stdout.write(show`${style.paint.bold(cleanName(name, style))}\n`)
      await world.stdout.write(findingsText(body, style))
    }
    for (const note of notes) await complain(world, SENTENCES[note] ?? `note: ${note}`)
    for (const each of missing) await complain(world, `${each.name} was not compared: ${each.reason}.`)
    if (missing.length > 0 || !answer.complete) return TROUBLE
    return answer.findings.length > 0 ? DIFFERENT : SAME
  })
}

function findingsText({ range, base, findings }: LogComparison, style: Style): Shown {
  const period = ({ from, to, records }: LogComparison['range']) =>
    show`${shownTime(from, style)} to ${shownTime(to, style)}, ${cleanName(records, style)} records`
  const head = show`${period(range)}\ncompared with ${period(base)}\n`
  if (findings.length === 0) return show`${style.paint.dim(head)}Nothing sets it apart.\n`
  const counts = findings.map(({ count, base }) => [cleanName(count, style), cleanName(base, style)] as const)
  const widths = ([0, 1] as const).map((column) =>
    Math.max(HEADS[column].length, ...counts.map((row) => row[column].length)),
  )
  const row = (kind: Shown, cells: readonly Shown[], what: Shown) =>
    show`${padded(kind, 7, 'right')}  ${padded(cells[0]!, widths[0]!, 'left')}  ${padded(cells[1]!, widths[1]!, 'left')}  ${what}\n`
  const indent = padded(show``, 7 + widths[0]! + widths[1]! + 6, 'right')
  const lines = findings.map((finding, i) => {
    const what = whatText(finding, style)
    const detail = detailOf(finding, style)
    const second = detail === '' ? show`` : show`${indent}${style.paint.dim(detail)}\n`
    return show`${row(cleanName(finding.kind, style), counts[i]!, what)}${second}`
  })
  const title = style.paint.dim(row(printable('KIND'), HEADS.map(printable), printable('WHAT')))
  return show`${style.paint.dim(head)}\n${title}${joined(lines)}`
}

const HEADS = ['NOW', 'BEFORE'] as const

function whatText({ kind, what, count, base }: LogFinding, style: Style): Shown {
  const name = kind === 'level' ? style.paint.level(what, cleanName(what, style)) : cleanName(what, style)
  const word = kind === 'config' || (count > 0 && base > 0) ? '' : base === 0 ? ' (new)' : ' (gone)'
  return show`${name}${style.paint.dim(printable(word))}`
}

/** Where it is, and an example. */
function detailOf({ node, file, what, example }: LogFinding, style: Style): Shown {
  const place = [node, file].filter(Boolean).join('/')
  const parts = [place, example === what ? '' : example].filter((part) => part !== undefined && part !== '')
  return joined(
    parts.map((part) => cleanName(part, style)),
    '  ',
  )
}
