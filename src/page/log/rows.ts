import { ansi } from './ansi.ts'
import type { Matcher } from './match.ts'
import { type Item, type Note, parse, type Shown, wall } from './record.ts'

/** What a row needs to know beside its record. */
export interface RowLook {
  matcher: Matcher | null
  open: boolean
  selected: boolean
  /** Whether the reader asked for all of a long record. */
  whole: boolean
  /** Whether other records lie between those shown, so that it is worth showing them. */
  around: boolean
}

/** The height of one line of text; the style sheet says the same. */
export const LINE = 20

/** A row of the list. All text goes in as text nodes: no log line can become markup. */
export function renderRow(item: Item, seq: number, look: RowLook): HTMLElement {
  if (typeof item !== 'string') return renderNote(item, seq)
  const shown = parse(item)
  const row = element('div', `row${shown.level === null ? '' : ` lv-${shown.level}`}`)
  row.setAttribute('role', 'listitem')
  row.dataset.seq = String(seq)
  if (look.selected) {
    row.classList.add('selected')
    row.setAttribute('aria-current', 'true')
  }
  const line = element('div', 'line')
  const foldable = shown.context !== null || shown.rest.length > FEW_LINES || shown.source !== ''
  const fold = element('button', 'fold') as HTMLButtonElement
  fold.type = 'button'
  fold.tabIndex = -1
  fold.setAttribute('aria-expanded', String(look.open))
  fold.setAttribute('aria-label', look.open ? 'Hide details' : 'Show details')
  if (!foldable) fold.classList.add('plain')
  line.append(fold, cell('t', shown.time === null ? '' : shortTime(shown.time), shown.time))
  const level = cell('l', shown.levelWord, null)
  const source = cell('s', '', shown.source || null)
  source.append(styled(baseName(shown.source), look.matcher))
  line.append(level, source)
  const tags = element('span', 'g')
  if (shown.tags.length > 0) tags.title = shown.tags.join(' · ')
  tags.append(styled(shown.tags.join(' '), look.matcher))
  line.append(tags)
  const message = element('span', 'm')
  message.append(clipped(shown.message, look))
  if (shown.context !== null && !look.open) {
    const context = element('span', 'c')
    context.append(styled(` ${clip(JSON.stringify(shown.context), 400)}`, look.matcher))
    message.append(context)
  }
  // Inside the message's cell, so that a stack trace stands under it whatever columns there are.
  if (shown.rest.length > 0) message.append(renderRest(shown, look))
  line.append(message)
  row.append(line)
  if (look.open) row.append(renderDetails(shown, look))
  return row
}

/** The columns that some of these records fill; the others need no room. */
export function columnsOf(items: Iterable<Item>): Set<string> {
  const filled = new Set<string>()
  for (const item of items) {
    if (typeof item !== 'string') continue
    const { time, levelWord, source, tags } = parse(item)
    if (time !== null) filled.add('t')
    if (levelWord !== '') filled.add('l')
    if (source !== '') filled.add('s')
    if (tags.length > 0) filled.add('g')
  }
  return filled
}

/** A guess at a row's height before it is drawn; looking for escaped line feeds costs less than parsing. */
export function estimateRow(item: Item, columns: number): number {
  if (typeof item !== 'string') return LINE + 8
  let lines = 0
  for (let at = item.indexOf('\\n'); at >= 0 && lines < FEW_LINES + 1; at = item.indexOf('\\n', at + 2))
    lines++
  if (columns > 0) lines += Math.floor(Math.min(item.length, LONG) / (columns * 1.35))
  return LINE * (1 + lines)
}

function renderNote(note: Note, seq: number): HTMLElement {
  const row = element('div', `row note note-${note.kind}`)
  row.setAttribute('role', 'listitem')
  row.dataset.seq = String(seq)
  row.append(element('span', 'rule'), text('span', 'said', noteText(note)), element('span', 'rule'))
  return row
}

function noteText(note: Note): string {
  const detail = noteDetail(note.text)
  switch (note.kind) {
    case 'rotated':
      return `The log was rotated: a new file begins here${detail}`
    case 'truncated':
      return `The log was truncated: it begins again here${detail}`
    case 'gap':
      return `Lines are missing here${detail}`
  }
}

/** An event's data is text or a JSON object whose words are worth showing. */
function noteDetail(data: string): string {
  if (data === '') return ''
  try {
    const value: unknown = JSON.parse(data)
    if (typeof value === 'object' && value !== null) {
      const words = Object.entries(value).filter(([, each]) => ['string', 'number'].includes(typeof each))
      return words.length === 0 ? '' : ` (${words.map(([name, each]) => `${name}: ${each}`).join(', ')})`
    }
    return ` (${String(value)})`
  } catch {
    return ` (${data})`
  }
}

function renderRest(shown: Shown, look: RowLook): HTMLElement {
  const rest = element('span', 'rest')
  const all = look.open || shown.rest.length <= FEW_LINES + 1
  const lines = all ? shown.rest : shown.rest.slice(0, FEW_LINES)
  rest.append(clipped(lines.join('\n'), look))
  if (!all) {
    const more = text('button', 'more', `${shown.rest.length - FEW_LINES} more lines`) as HTMLButtonElement
    more.type = 'button'
    more.tabIndex = -1
    more.dataset.act = 'fold'
    rest.append('\n', more)
  }
  return rest
}

function renderDetails(shown: Shown, look: RowLook): HTMLElement {
  const details = element('div', 'details')
  const facts = element('dl', 'facts')
  const fact = (name: string, value: string) => {
    if (value === '') return
    const dd = element('dd', '')
    dd.append(styled(value, look.matcher))
    facts.append(text('dt', '', name), dd)
  }
  fact('Time', shown.time ?? '')
  fact('Level', shown.levelWord)
  fact('Source', shown.source)
  fact('Tags', shown.tags.join(' · '))
  details.append(facts)
  if (shown.context !== null) {
    const json = element('pre', 'json')
    jsonInto(json, shown.context, look.matcher)
    details.append(json)
  }
  const acts = element('div', 'acts')
  for (const [act, label] of [
    ...(look.around ? [['around', 'Show the lines around it']] : []),
    ['copy-line', 'Copy line'],
    ['copy-message', 'Copy message'],
    ['copy-link', 'Copy link'],
  ]) {
    const button = text('button', 'small', label!) as HTMLButtonElement
    button.type = 'button'
    button.dataset.act = act
    acts.append(button)
  }
  details.append(acts)
  return details
}

/** JSON with its parts in colour; built as nodes, indented by two. */
function jsonInto(parent: HTMLElement, value: unknown, matcher: Matcher | null): void {
  const source = JSON.stringify(value, null, 2)
  const token = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/g
  let last = 0
  for (const found of source.matchAll(token)) {
    parent.append(source.slice(last, found.index))
    last = found.index + found[0].length
    const kind = found[1] === undefined ? 'j-word' : found[2] === undefined ? 'j-text' : 'j-key'
    const span = element('span', kind)
    span.append(styled(clip(found[1] ?? found[0], LONG), matcher))
    parent.append(span, found[2] ?? '')
  }
  parent.append(source.slice(last))
}

function clipped(source: string, look: RowLook): DocumentFragment {
  if (look.whole || source.length <= LONG) return styled(source, look.matcher)
  const out = styled(source.slice(0, LONG), look.matcher)
  const kb = Math.ceil((source.length - LONG) / 1024)
  const more = text('button', 'more', `… ${kb.toLocaleString('en')} KB more`) as HTMLButtonElement
  more.type = 'button'
  more.tabIndex = -1
  more.dataset.act = 'whole'
  out.append(more)
  return out
}

/** Text with ANSI colours and marked hits. */
function styled(source: string, matcher: Matcher | null): DocumentFragment {
  const out = document.createDocumentFragment()
  const { text: plain, spans } = ansi(source)
  const hits = matcher?.ranges(plain) ?? []
  if (spans.length === 0 && hits.length === 0) {
    out.append(plain)
    return out
  }
  // Cut at every border of a colour or a hit; what lies between two cuts has one look.
  const cuts = new Set([0, plain.length])
  for (const span of spans) cuts.add(span.start).add(span.end)
  for (const [from, to] of hits) cuts.add(from).add(to)
  const ordered = [...cuts].sort((a, b) => a - b)
  let nextSpan = 0
  let nextHit = 0
  for (let i = 0; i + 1 < ordered.length; i++) {
    const from = ordered[i]!
    const to = ordered[i + 1]!
    while (nextSpan < spans.length && spans[nextSpan]!.end <= from) nextSpan++
    while (nextHit < hits.length && hits[nextHit]![1] <= from) nextHit++
    const span = spans[nextSpan]
    const coloured = span !== undefined && span.start <= from ? span : null
    const hit = nextHit < hits.length && hits[nextHit]![0] <= from
    const piece = plain.slice(from, to)
    if (coloured === null && !hit) {
      out.append(piece)
      continue
    }
    const part = text(hit ? 'mark' : 'span', coloured?.classes ?? '', piece)
    if (coloured?.color != null && !hit) part.style.color = coloured.color
    out.append(part)
  }
  return out
}

function cell(name: string, content: string, title: string | null): HTMLElement {
  const span = text('span', name, content)
  if (title !== null) span.title = title
  return span
}

function element(tag: string, className: string): HTMLElement {
  const made = document.createElement(tag)
  if (className !== '') made.className = className
  return made
}

function text(tag: string, className: string, content: string): HTMLElement {
  const made = element(tag, className)
  made.textContent = content
  return made
}

/** Month, day and time: the year is in the tooltip. */
function shortTime(time: string): string {
  const full = wall(time)
  return /^\d{4}-/.test(full) ? full.slice(5, 23) : full
}

function baseName(source: string): string {
  return source.slice(source.lastIndexOf('/') + 1)
}

function clip(source: string, length: number): string {
  return source.length <= length ? source : `${source.slice(0, length)}…`
}

/** Characters of a cell that are drawn at once. */
const LONG = 8_000
/** Lines of a stack trace that are shown before it is folded out. */
const FEW_LINES = 3
