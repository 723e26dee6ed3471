import { count } from '../../ui/format.ts'
import { contextText, tagsText } from './context.ts'
import { renderDetails } from './details.ts'
import { valuesOf } from './fields.ts'
import type { FieldColumn, RowLook } from './look.ts'
import type { Matcher } from './match.ts'
import { type Item, type Note, parse, type Shown } from './record.ts'
import { markOf, originOf, type Sources } from './source.ts'
import { clip, element, styled } from './styled.ts'

/** The height of one line of text; the style sheet says the same. */
const LINE = 20

/** A row of the list. All text goes in as text nodes: no log line can become markup. */
export function renderRow(item: Item, seq: number, look: RowLook): HTMLElement {
  if (typeof item !== 'string') return renderNote(item, seq)
  const record = parse(item)
  const shown = sqlFirst(record)
  const { level } = shown
  const classes = [
    'row',
    level !== null && `lv-${level}`,
    look.selected && 'selected',
    look.unsettled && 'unsettled',
  ]
  const current = look.selected ? 'true' : null
  return element(
    'div',
    { class: classes.filter(Boolean).join(' '), role: 'listitem', 'data-seq': seq, 'aria-current': current },
    ...(look.day === null ? [] : [element('div', 'day', look.day)]),
    element(
      'div',
      'line',
      ...(look.sources === null ? [] : [sourceCell(shown, look.sources)]),
      foldButton(shown, look),
      ...columnsOf(look.sources).map(({ cell }) => cell(shown, look)),
      ...look.fields.map((field) => fieldCell(record, field, look)),
      messageCell(shown, look),
    ),
    ...(look.open ? [renderDetails(record, look)] : []),
  )
}

function foldButton(shown: Shown, { open }: RowLook): HTMLElement {
  const foldable = shown.context !== null || shown.rest.length > FEW_LINES || shown.source !== ''
  return element('button', {
    type: 'button',
    class: foldable ? 'fold' : 'fold plain',
    tabindex: -1,
    'aria-expanded': String(open),
    'aria-label': open ? 'Hide details' : 'Show details',
  })
}

/** A cell whose click opens the menu of a value. */
function valueCell(classes: string, field: string, value: string, ...shown: (Node | string)[]): HTMLElement {
  return element('span', { class: classes, 'data-field': field, 'data-value': value }, ...shown)
}

/** The time; month and day are for the reader of the text, the year is in the tooltip. A line divides days. */
function timeCell({ time }: Shown, { clock }: RowLook): HTMLElement {
  if (time === null) return element('span', 't')
  const full = clock.text(time)
  const title = clock.choice === 'log' ? time : `${full} (${time})`
  const parts = /^\d{4}-/.test(full)
    ? [element('span', 'date', full.slice(5, 11)), full.slice(11, 23)]
    : [full]
  return element('span', { class: 't', title }, ...parts)
}

/** A narrow mark for the log that a record is from: a colour, and a letter for those who do not see it. */
function sourceCell(shown: Shown, sources: Sources): HTMLElement {
  const name = sources.nodes.length > 1 ? shown.node : shown.file || sources.alone
  const { letter, colour } = markOf(sources, name)
  const mark = element('span', { class: 'o', title: originOf(shown, sources) }, letter)
  mark.style.borderColor = colour
  return mark
}

/** The node or the log that a record is from. */
function originCell(name: string, text: string): HTMLElement {
  return element('span', { class: name, title: text }, text)
}

function levelCell({ level }: Shown): HTMLElement {
  return level === null ? element('span', 'l') : valueCell('l v', 'level', level, level.toUpperCase())
}

function placeCell({ source }: Shown, look: RowLook): HTMLElement {
  if (source === '') return element('span', 's')
  const name = source.slice(source.lastIndexOf('/') + 1)
  const cell = valueCell('s v', 'source', source, styled(name, look.marks))
  cell.title = source
  return cell
}

function tagsCell({ tags, raw }: Shown, look: RowLook): HTMLElement {
  const written = tagsText(tags, raw)
  const parts = written.flatMap((tag, index) => {
    const isApart = index > 0 && !raw.includes(written[index - 1]! + tag)
    return [isApart ? ' ' : '', valueCell('v', 'tag', tags[index]!, styled(tag, look.marks))]
  })
  return element('span', { class: 'g', title: written.join(' ') || null }, ...parts)
}

function fieldCell(record: Shown, { name, chars, numeric, unit }: FieldColumn, look: RowLook): HTMLElement {
  const value = valuesOf(record, name)[0] ?? ''
  const shown = value === '' ? '' : clip(value, CONTEXT) + (unit ?? '')
  const classes = `x${unit === null ? '' : ' request'}${numeric ? ' number' : ''}${value === '' ? '' : ' v'}`
  const cell = valueCell(classes, name, value, styled(shown, look.marks))
  cell.title = value
  // By script, which the page's policy allows.
  cell.style.width = `${chars}ch`
  return cell
}

function messageCell(shown: Shown, look: RowLook): HTMLElement {
  const message = element('span', 'm', clipped(shown.message, look))
  if (shown.context !== null && !look.open) {
    const context = clip(contextText(shown.context, shown.raw, shown.message), CONTEXT)
    message.append(element('span', 'c', styled(` ${context}`, look.marks)))
  }
  // Inside the message's cell, so that a stack trace is below it whatever columns there are.
  if (shown.rest.length > 0) message.append(renderRest(shown, look))
  return message
}

/** A column of the list. It is shown if some record fills it, unless the user hides it. */
interface Column {
  /** The class of its cells. */
  name: string
  /** Its heading. */
  title: string
  /** What the API and CSV call it. */
  member: string
  /** What fills it, and decides how wide it is. */
  text: (shown: Shown) => string
  /** Whether this list has it. @default always */
  isThere?: (sources: Sources | null) => boolean
  cell: (shown: Shown, look: RowLook) => HTMLElement
}

/** The columns in their order; those of fields and the message follow. */
export const COLUMNS: readonly Column[] = [
  { name: 't', title: 'Time', member: 'time', text: ({ time }) => time ?? '', cell: timeCell },
  {
    name: 'nn',
    title: 'Node',
    member: 'node',
    text: ({ node = '' }) => node,
    isThere: (sources) => sources !== null && sources.nodes.length > 1,
    cell: ({ node = '' }) => originCell('nn', node),
  },
  {
    name: 'ln',
    title: 'Log',
    member: 'file',
    text: ({ file = '' }) => file,
    isThere: (sources) => sources !== null && sources.files.length > 1,
    cell: ({ file }, { sources }) => originCell('ln', file || sources!.alone),
  },
  { name: 'l', title: 'Level', member: 'level', text: ({ level }) => level ?? '', cell: levelCell },
  {
    name: 's',
    title: 'Source',
    member: 'source',
    text: ({ source }) => source.slice(source.lastIndexOf('/') + 1),
    cell: placeCell,
  },
  {
    name: 'g',
    title: 'Tags',
    member: 'tag',
    text: ({ tags, raw }) => tagsText(tags, raw).join(' '),
    cell: tagsCell,
  },
]

/** The columns of a list of these sources. */
export function columnsOf(sources: Sources | null): readonly Column[] {
  return COLUMNS.filter(({ isThere }) => isThere?.(sources) ?? true)
}

/** A guess at a row's height before it is drawn; looking for escaped line feeds costs less than parsing. */
export function estimateRow(item: Item, columns: number): number {
  if (typeof item !== 'string') return LINE + 8
  let lines = 0
  for (let at = item.indexOf('\\n'); at >= 0 && lines < FEW_LINES + 1; at = item.indexOf('\\n', at + 2))
    lines++
  // About half of the JSON text is the record's text a second time.
  if (columns > 0) lines += Math.floor(Math.min(item.length / 2, LONG) / (columns * 1.35))
  return LINE * (1 + lines)
}

function renderNote({ kind, text }: Note, seq: number): HTMLElement {
  return element(
    'div',
    { class: `row note note-${kind}`, role: 'listitem', 'data-seq': seq },
    element('span', 'rule'),
    element('span', 'said', NOTES[kind] + noteDetail(text)),
    element('span', 'rule'),
  )
}

const NOTES: Record<Note['kind'], string> = {
  rotated: 'The log was rotated. A new file begins here',
  truncated: 'The log was truncated. It starts over here',
  gap: 'Lines are missing here',
}

/** An event's data is a JSON object: which file, and to which one. */
function noteDetail(data: string): string {
  const words = Object.entries(JSON.parse(data || '{}')).map(([name, each]) => `${name}: ${each}`)
  return words.length === 0 ? '' : ` (${words.join(', ')})`
}

function renderRest(shown: Shown, look: RowLook): HTMLElement {
  const all = look.open || shown.rest.length <= FEW_LINES + 1
  const lines = all ? shown.rest : shown.rest.slice(0, FEW_LINES)
  const rest = element('span', 'rest', clipped(lines.join('\n'), look))
  if (!all) rest.append('\n', moreButton('fold', `${shown.rest.length - FEW_LINES} more lines`))
  return rest
}

/** A long text in part: its beginning, or where the hit is that the reader jumped to. */
function clipped(source: string, look: RowLook): DocumentFragment {
  if (look.whole || source.length <= LONG) return styled(source, look.marks)
  const hit = look.reveal ? firstHit(source, look.marks) : 0
  const from = hit < LONG - 500 ? 0 : hit - BEFORE
  const to = Math.min(source.length, from + LONG)
  const out = document.createDocumentFragment()
  if (from > 0) out.append(moreButton('whole', `${kilobytes(from)} before …`))
  out.append(styled(source.slice(from, to), look.marks))
  if (to < source.length) out.append(moreButton('whole', `… ${kilobytes(source.length - to)} more`))
  return out
}

function firstHit(source: string, marks: readonly Matcher[]): number {
  return marks[0]?.ranges(source)[0]?.[0] ?? 0
}

function kilobytes(length: number): string {
  return `${count(Math.ceil(length / 1024))} KB`
}

function moreButton(act: string, label: string): HTMLElement {
  return element('button', { type: 'button', class: 'more', tabindex: -1, 'data-act': act }, label)
}

/** Characters of a cell that are drawn at once, and those kept before a hit far inside. */
const LONG = 8_000
const BEFORE = 200
/** Characters of the context in a collapsed row. */
const CONTEXT = 400
/** Lines of a stack trace that are shown before the record is expanded. */
const FEW_LINES = 3

/** A record as its row shows it: a slow query begins with its SQL, not with the server's remarks on it. */
function sqlFirst(shown: Shown): Shown {
  if (shown.message.startsWith('# ')) {
    const lines = [shown.message, ...shown.rest]
    const sql = lines.findIndex((line) => !REMARK.test(line))
    return sql < 1
      ? shown
      : { ...shown, message: lines[sql]!, rest: [...lines.slice(sql + 1), ...lines.slice(0, sql)] }
  }
  const { context, message } = shown
  if (typeof context !== 'object' || context === null) return shown
  const found = Object.entries(context).find(([key, value]) => SQL.test(key) && typeof value === 'string')
  if (found === undefined || !(message === '' || /slow/i.test(message + shown.tags.join(' ')))) return shown
  const { [found[0]]: _, ...rest } = context as Record<string, unknown>
  const [first, ...more] = (found[1] as string).split('\n')
  return {
    ...shown,
    message: message === '' ? first! : `${first} · ${message}`,
    rest: [...more, ...shown.rest],
    context: Object.keys(rest).length === 0 ? null : rest,
  }
}

/** What MySQL writes above the statement. */
const REMARK = /^(?:# |SET timestamp=|use )/i
const SQL = /^(?:sql|query|statement)$/i
