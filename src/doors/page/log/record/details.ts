import { zoneName } from '../../ui/format.ts'
import { plain } from './fields.ts'
import type { RowLook } from './look.ts'
import type { Shown } from './record.ts'
import { originOf } from './source.ts'
import { clip, element, styled } from './styled.ts'

/** An expanded record: its fields, each of which a click can include, exclude or copy, and what can be done with it. */
export function renderDetails(shown: Shown, look: RowLook): HTMLElement {
  const details = element('div', 'details', renderFacts(shown, look))
  if (shown.context !== null) {
    const json = element('pre', 'json')
    renderJson(json, shown.context, { path: '', indent: '', look })
    details.append(json)
  }
  // The hit may span columns, or have a spelling that occurs only in the log itself.
  if (look.marks.length > 0 && details.querySelector('mark') === null)
    details.append(element('pre', 'as-written', styled(clip(shown.raw, LONGEST), look.marks)))
  details.append(renderActs(look))
  return details
}

function renderFacts(shown: Shown, look: RowLook): HTMLElement {
  const facts = element('dl', 'facts')
  const fact = (name: string, ...parts: HTMLElement[]) => {
    if (parts.length === 0) return
    const apart = parts.flatMap((part, index) => (index > 0 ? [' ', part] : [part]))
    facts.append(element('dt', '', name), element('dd', '', ...apart))
  }
  const field = (name: string, content: string) => valueButton(name, content, content, look)
  if (shown.time !== null) fact('Time', element('time', '', timeText(shown.time, look)))
  if (look.sources !== null) fact('Log', element('span', '', originOf(shown, look.sources)))
  if (shown.level !== null) fact('Level', valueButton('level', shown.level, shown.level.toUpperCase(), look))
  if (shown.source !== '') fact('Source', field('source', shown.source))
  fact('Tags', ...shown.tags.map((tag) => field('tag', tag)))
  if (/\S\s+\S/.test(shown.message)) {
    const message = styled(clip(shown.message, MESSAGE), look.marks)
    facts.append(element('dt', '', 'Message'), element('dd', 'message', message))
  }
  return facts
}

/** The time as the log has it; on another clock also as that shows it. */
function timeText(time: string, { clock }: RowLook): string {
  return clock.choice === 'log'
    ? time
    : `${clock.text(time)} ${zoneName(clock.at(Date.parse(time)))} (${time})`
}

/** A value that opens the menu of what can be done with it; one without a field is a text. */
function valueButton(field: string, value: string, shown: string, look: RowLook): HTMLElement {
  return element(
    'button',
    { type: 'button', class: 'v', 'data-field': field, 'data-value': value, 'aria-haspopup': 'menu' },
    styled(clip(shown, LONG), look.marks),
  )
}

function renderActs(look: RowLook): HTMLElement {
  const acts = [
    ...(look.around ? [['around', 'Show the lines around it']] : []),
    ...(look.others ? [['others', 'Others at this moment']] : []),
    ['copy-line', 'Copy line'],
    ['copy-message', 'Copy message'],
    ['copy-link', 'Copy link'],
  ]
  const buttons = acts.map(([act, label]) =>
    element('button', { type: 'button', class: 'small', 'data-act': act! }, label!),
  )
  return element('div', 'acts', ...buttons)
}

interface Place {
  /** The field's name so far, its keys joined by dots; null inside a list, whose members have no name. */
  path: string | null
  indent: string
  look: RowLook
}

/** JSON with its parts in colour, indented by two, built as nodes; every value is one that a click can filter by. */
function renderJson(parent: HTMLElement, value: unknown, place: Place): void {
  const { path, indent, look } = place
  const list = Array.isArray(value)
  if (typeof value !== 'object' || value === null || isNumber(value)) {
    const button = valueButton(path ?? '', plain(value), JSON.stringify(value), look)
    button.classList.add(typeof value === 'string' ? 'j-text' : 'j-word')
    return void parent.append(button)
  }
  const entries = Object.entries(value)
  if (entries.length === 0) return void parent.append(list ? '[]' : '{}')
  const inner = `${indent}  `
  parent.append(list ? '[' : '{')
  entries.forEach(([key, each], index) => {
    parent.append(`${index === 0 ? '' : ','}\n${inner}`)
    if (!list) parent.append(element('span', 'j-key', styled(JSON.stringify(key), look.marks)), ': ')
    const next = list || path === null ? null : path === '' ? key : `${path}.${key}`
    renderJson(parent, each, { path: next, indent: inner, look })
  })
  parent.append(`\n${indent}${list ? ']' : '}'}`)
}

/** A number kept as the log wrote it (JSON.rawJSON). */
function isNumber(value: object): boolean {
  const { isRawJSON } = JSON as { isRawJSON?: (value: unknown) => boolean }
  return isRawJSON?.(value) ?? false
}

const LONG = 8_000
const LONGEST = 20_000
const MESSAGE = 2_000
