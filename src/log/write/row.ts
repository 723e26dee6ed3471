import type { HeadPlan } from '../format/format.ts'
import type { HeadGroups } from '../format/read/vocabulary.ts'
import type { LineWriter, RecordOut } from './record.ts'
import { unnamed } from './stamped.ts'

/** Writes lines whose head is one pattern, as their fields would be written. */
export function headWriter(plan: HeadPlan): LineWriter {
  const { source, names } = unnamed(plan.head.source)
  const pattern = new RegExp(source, plan.head.flags)
  const looksAhead = /\(\?[=!<]/.test(source)
  const numberOf = (name: string) => names.indexOf(name)
  const [level, tag, file, line] = ['level', 'tag', 'file', 'line'].map(numberOf) as [
    number,
    number,
    number,
    number,
  ]
  const times = names.map((_, i) => i).filter((i) => plan.timeGroups.has(names[i]!))
  const fields = names
    .map((_, i) => i)
    .filter((i) => i > 0 && !times.includes(i) && ![level, tag, file, line].includes(i))
  const insides = (plan.inside ?? []).map((inside) => {
    const own = unnamed(inside.source)
    return { names: own.names, pattern: new RegExp(own.source, inside.flags) }
  })
  return (record, from, limit) => {
    const to = record.scan(from, limit)
    const { bytes } = record
    if (to < 0 || !plan.mayBegin(bytes, from, to)) return false
    const text = record.text(from, to)
    const found = pattern.exec(text.length > plan.within ? text.slice(0, plan.within) : text)
    if (!found) return false
    const start = record.after(text, found[0].length, from)
    // What is not ASCII may be read in another way where only bytes are read.
    const isWide = record.line.wide < (looksAhead ? from + plan.within : start)
    if (isWide && !plan.begins(bytes, from, to)) return false
    const groups: HeadGroups = {}
    for (let i = 0; i < times.length; i++) groups[names[times[i]!]!] = found[times[i]!]
    const word = level < 0 ? undefined : found[level]
    const message = record.skipBlanks(start, to)
    const own = plan.levelIn ? plan.levelIn(bytes, from, message, to) : plan.levelOf(word)
    if (own < 0 && word !== undefined) return false
    const epoch = plan.time(groups, record.zone, { bytes, from, to })
    if (!record.time(epoch)) return false
    record.level(own)
    if (file >= 0 && found[file] && found[line]) record.source(found[file], String(Number(found[line])))
    const name = tag < 0 ? undefined : found[tag]
    if (name !== undefined && name !== '' && name !== '-') record.tag(name.trim())
    record.message(message, to)
    for (let i = 0; i < fields.length; i++) record.group(names[fields[i]!]!, found[fields[i]!])
    if (insides.length > 0) writeInside(record, insides, record.text(message, to))
    if (plan.unpaired) record.end()
    else record.endWithPairs(message, to)
    return true
  }
}

function writeInside(
  record: RecordOut,
  insides: readonly { names: readonly string[]; pattern: RegExp }[],
  message: string,
): void {
  for (const { names, pattern } of insides) {
    const found = pattern.exec(message)
    for (let i = 1; found && i < names.length; i++) record.group(names[i]!, found[i])
  }
}
