import { span } from '../../ui/format.ts'
import { contextText, tagsText } from './context.ts'
import { renderDetails } from './details.ts'
import { valuesOf } from './fields.ts'
import type { FieldColumn, RowLook } from './look.ts'
import { type Item, type Note, parse, type Shown } from './record.ts'
import { markOf, originOf, type Sources } from './source.ts'
import { sqlFirst } from './sql.ts'
import { clip, element, type Mark, styled, text } from './styled.ts'

/** The height of one line of text; the style sheet says the same. */
const LINE = 20

/** A row of the list. All text goes in as text nodes: no log line can become markup. */
export function renderRow(item: Item, seq: number, look: RowLook): HTMLElement {
  if (typeof item !== 'string') return renderNote(item, seq)
  const record = parse(item)
  const shown = sqlFirst(record)
  const row = element('div', `row${shown.level === null ? '' : ` lv-${shown.level}`}`)
  row.setAttribute('role', 'listitem')
  row.dataset.seq = String(seq)
  if (look.selected) {
    row.classList.add('selected')
    row.setAttribute('aria-current', 'true')
  }
  if (look.unsettled) row.classList.add('unsettled')
  const line = element('div', 'line')
  if (look.sources !== null) line.append(sourceCell(shown, look.sources))
  line.append(
    foldButton(shown, look),
    timeCell(shown, look),
    ...(look.gaps ? [cell('d', look.gap === null ? '' : gapText(look.gap), null)] : []),
    levelCell(shown),
    placeCell(shown, look),
    tagsCell(shown, look),
    ...look.fields.map((field) => fieldCell(record, field, look)),
    messageCell(shown, look),
  )
  row.append(line)
  if (look.open) row.append(renderDetails(record, look))
  return row
}

function foldButton(shown: Shown, look: RowLook): HTMLElement {
  const foldable = shown.context !== null || shown.rest.length > FEW_LINES || shown.source !== ''
  const fold = element('button', foldable ? 'fold' : 'fold plain') as HTMLButtonElement
  fold.type = 'button'
  fold.tabIndex = -1
  fold.setAttribute('aria-expanded', String(look.open))
  fold.setAttribute('aria-label', look.open ? 'Hide details' : 'Show details')
  return fold
}

/** Month, day and time: the year is in the tooltip, and the day as well where there is little room. */
function timeCell({ time }: Shown, look: RowLook): HTMLElement {
  const full = time === null ? '' : look.clock.text(time)
  const dated = /^\d{4}-/.test(full)
  const made = cell('t', '', time === null ? null : look.clock.choice === 'log' ? time : `${full} (${time})`)
  if (dated) made.append(text('span', 'date', full.slice(5, 11)))
  made.append(dated ? full.slice(11, 23) : full)
  return made
}

function levelCell(shown: Shown): HTMLElement {
  return cell(shown.level === null ? 'l' : 'l v', shown.levelWord, null)
}

/** A narrow mark for the log that a record is from: a colour, and a letter for those who do not see it. */
function sourceCell(shown: Shown, sources: Sources): HTMLElement {
  const { letter, colour } = markOf(
    sources,
    sources.nodes.length > 1 ? shown.node : shown.file || sources.alone,
  )
  const mark = cell('o', letter, originOf(shown, sources))
  mark.style.borderColor = colour
  return mark
}

function placeCell(shown: Shown, look: RowLook): HTMLElement {
  const source = cell(shown.source === '' ? 's' : 's v', '', shown.source || null)
  source.append(styled(shown.source.slice(shown.source.lastIndexOf('/') + 1), look.marks))
  return source
}

function tagsCell(shown: Shown, look: RowLook): HTMLElement {
  const cell = element('span', 'g')
  const written = tagsText(shown.tags, shown.raw)
  if (written.length > 0) cell.title = written.join(' ')
  written.forEach((tag, index) => {
    const part = element('span', 'v')
    part.append(styled(tag, look.marks))
    if (index > 0 && !(shown.raw?.includes(written[index - 1]! + tag) ?? false)) cell.append(' ')
    cell.append(part)
  })
  return cell
}

function fieldCell(record: Shown, { name, chars, numeric }: FieldColumn, look: RowLook): HTMLElement {
  const value = valuesOf(record, name)[0] ?? ''
  const cell = element('span', `x${numeric ? ' number' : ''}${value === '' ? '' : ' v'}`)
  cell.dataset.field = name
  cell.dataset.value = value
  cell.title = value
  // By script, which the page's policy allows.
  cell.style.width = `${chars}ch`
  cell.append(styled(clip(value, CONTEXT), look.marks))
  return cell
}

function messageCell(shown: Shown, look: RowLook): HTMLElement {
  const message = element('span', 'm')
  message.append(clipped(shown.message, look))
  if (shown.context !== null && !look.open) {
    const context = element('span', 'c')
    context.append(
      styled(` ${clip(contextText(shown.context, shown.raw, shown.message), CONTEXT)}`, look.marks),
    )
    message.append(context)
  }
  // Inside the message's cell, so that a stack trace is below it whatever columns there are.
  if (shown.rest.length > 0) message.append(renderRest(shown, look))
  return message
}

/** The value that a part of a collapsed row represents; an expanded record says it in its own attributes. */
export function clickedValue(part: HTMLElement, item: Item): { field: string; value: string } | null {
  const { field, value } = part.dataset
  if (field !== undefined && value !== undefined) return { field, value }
  if (typeof item !== 'string') return null
  const shown = parse(item)
  if (part.matches('.l') && shown.level !== null) return { field: 'level', value: shown.level }
  if (part.matches('.s')) return { field: 'source', value: shown.source }
  const tag = shown.tags[[...part.parentElement!.children].indexOf(part)]
  return tag === undefined ? null : { field: 'tag', value: tag }
}

/** The columns that some of these records fill, with the characters that each needs; the others need no room. */
export function columnsOf(items: Iterable<Item>): Map<string, number> {
  const filled = new Map<string, number>()
  const add = (name: string, length: number) => {
    if (length > 0) filled.set(name, Math.max(length, filled.get(name) ?? 0))
  }
  for (const item of items) {
    if (typeof item !== 'string') continue
    const { time, levelWord, source, tags, raw } = parse(item)
    add('t', time?.length ?? 0)
    add('l', levelWord.length)
    add('s', source.length - source.lastIndexOf('/') - 1)
    add('g', tagsText(tags, raw).join(' ').length)
  }
  return filled
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

function renderNote(note: Note, seq: number): HTMLElement {
  const row = element('div', `row note note-${note.kind}`)
  row.setAttribute('role', 'listitem')
  row.dataset.seq = String(seq)
  row.append(
    element('span', 'rule'),
    text('span', 'said', NOTES[note.kind] + noteDetail(note.text)),
    element('span', 'rule'),
  )
  return row
}

const NOTES: Record<Note['kind'], string> = {
  rotated: 'The log was rotated. A new file begins here',
  truncated: 'The log was truncated. It starts over here',
  gap: 'Lines are missing here',
}

/** An event's data is text or a JSON object whose words are worth showing. */
function noteDetail(data: string): string {
  if (data === '') return ''
  try {
    const found: unknown = JSON.parse(data)
    if (typeof found === 'object' && found !== null) {
      const words = Object.entries(found).filter(([, each]) => ['string', 'number'].includes(typeof each))
      return words.length === 0 ? '' : ` (${words.map(([name, each]) => `${name}: ${each}`).join(', ')})`
    }
    return ` (${String(found)})`
  } catch {
    return ` (${data})`
  }
}

function renderRest(shown: Shown, look: RowLook): HTMLElement {
  const rest = element('span', 'rest')
  const all = look.open || shown.rest.length <= FEW_LINES + 1
  const lines = all ? shown.rest : shown.rest.slice(0, FEW_LINES)
  rest.append(clipped(lines.join('\n'), look))
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

function firstHit(source: string, marks: readonly Mark[]): number {
  return marks.find((mark) => mark.colour === 0)?.matcher.ranges(source)[0]?.[0] ?? 0
}

function kilobytes(length: number): string {
  return `${Math.ceil(length / 1024).toLocaleString('en')} KB`
}

function moreButton(act: string, label: string): HTMLElement {
  const more = text('button', 'more', label) as HTMLButtonElement
  more.type = 'button'
  more.tabIndex = -1
  more.dataset.act = act
  return more
}

function cell(name: string, content: string, title: string | null): HTMLElement {
  const span = text('span', name, content)
  if (title !== null) span.title = title
  return span
}

/** `+12 ms`, `+1.5 s`, `+3 min`: how long the log was silent. */
export function gapText(ms: number): string {
  const away = Math.abs(ms)
  const sign = ms < 0 ? '−' : '+'
  if (away < 1000) return `${sign}${Math.round(away)} ms`
  if (away < 60_000) return `${sign}${(away / 1000).toFixed(1)} s`
  return `${sign}${span(Math.round(away / 1000))}`
}

/** Characters of a cell that are drawn at once, and those kept before a hit far inside. */
const LONG = 8_000
const BEFORE = 200
/** Characters of the context in a collapsed row. */
const CONTEXT = 400
/** Lines of a stack trace that are shown before the record is expanded. */
const FEW_LINES = 3
