import type { RefObject } from 'preact'
import { useState } from 'preact/hooks'
import { quantityOf } from '../../../log/where/compare.ts'
import { put } from '../ui/clipboard.ts'
import { counted } from '../ui/format.ts'
import { hand } from '../ui/store.ts'
import { type Look, NO_COLUMNS, NOWHERE, toggled } from '../url.ts'
import { isFiltered } from './find/query.ts'
import { SIGNS, termOf, type Value, withTerm, withValue } from './find/terms.ts'
import { type Choice, type Spot, spotUnder } from './menu.tsx'
import type { Goal } from './reader/places.ts'
import type { Reader } from './reader/reader.ts'

interface Options {
  reader: RefObject<Reader | null>
  /** Where the next reader begins. */
  goal: RefObject<Goal | null | undefined>
  current: RefObject<Look>
  toOthers: ((time: string) => void) | null
  go: (look: Look) => void
  note: (look: Look) => void
  say: (message: string) => void
}

/** What a user can do with the records on the screen. */
export function useActs({ reader, goal, current, toOthers, go, note, say }: Options) {
  const [choice, setChoice] = useState<Choice | null>(null)
  const look = () => current.current!
  /** Another view of the same log; the record that the user is reading stays, or else its nearest neighbour. */
  const apply = (change: Partial<Look>, wanted = reader.current?.goal() ?? null) => {
    goal.current = wanted
    const follow = reader.current?.following ?? look().follow
    go({ ...look(), ...NOWHERE, follow: follow && wanted === null, ...change })
  }
  const highlight = (marks: string[]) => go({ ...look(), marks })
  const showAround = (seq: number) => {
    const made = reader.current
    if (made === null) return
    if (!isFiltered(look()) || look().all) made.list.show(seq, 'center')
    else apply({ all: true }, made.goalAround(seq))
  }
  /** To another part of the page; the way back leads to what is in view now. */
  const leave = (next: Look) => {
    const made = reader.current
    if (made !== null && !made.following) note({ ...look(), ...made.here() })
    go(next)
  }
  /** The same moment in all logs, with the record still marked. */
  const showOthers = (seq: number) => {
    const record = reader.current?.goalAround(seq)
    if (toOthers === null || record == null) return
    // So that the way back leads to this record.
    note({ ...look(), ...reader.current!.placeOf(seq), follow: false })
    hand.leave('goal', JSON.stringify(record))
    toOthers(record.time ?? '')
  }
  const copyText = (columns: boolean) => void copyRecords(reader.current, columns, say)
  const toggleFollow = () => {
    const made = reader.current
    if (made === null) return
    const on = !made.following
    if (on && look().encoding !== '') return say('A log can be followed only as UTF-8')
    note({ ...look(), follow: on, ...(on ? NOWHERE : {}) })
    void made.follow(on)
  }
  const fields = () => reader.current?.columns.fields.map(({ name }) => name) ?? []
  /** Other columns; the message is not repeated beside those of a request. */
  const showColumns = (names: string[], message = look().message && !reader.current?.columns.suggested) =>
    go({
      ...look(),
      columns: names.length === 0 ? [NO_COLUMNS] : names,
      message: message || names.length === 0,
    })
  const column = (name: string): Choice['entries'][number] => [
    fields().includes(name) ? 'Remove the column' : 'Show as column',
    () => showColumns(toggled(fields(), name)),
  ]

  const openValue = (value: Value, at: Spot) => {
    const term = termOf(value, false)
    const entries: Choice['entries'] = [
      ['Only records with this', () => apply(withValue(look(), value, false))],
      ['Hide records with this', () => apply(withValue(look(), value, true))],
      ['Highlight', () => highlight([...look().marks.filter((each) => each !== value.value), value.value])],
      ['Only this value over time', () => go({ ...look(), chart: `${term.kind}:${term.value}` })],
      ['Copy', () => void put(value.value, say, 'Value copied')],
    ]
    if (isField(value.field)) entries.splice(4, 0, column(value.field))
    const label = value.field === '' ? `“${brief(value.value)}”` : `${value.field}: ${brief(value.value)}`
    setChoice({ label, signs: signsOf(value), entries, at })
  }
  /** Comparisons with a value that is a number. */
  const signsOf = ({ field, value }: Value): Choice['entries'] => {
    if (field === '' || quantityOf(value) === null) return []
    return COMPARED.map((sign) => [
      `${SIGNS[sign]} ${brief(value)}`,
      () => apply(withTerm(look(), { kind: 'where', value: `${field}${sign}${value}` })),
    ])
  }
  const openField = (name: string, part: HTMLElement) =>
    setChoice({
      label: name,
      signs: FIELD_SIGNS.map(([sign, typed]) => [sign, () => startTyping(`${name}${typed}`)]),
      entries: [
        column(name),
        [
          'Only records with this field',
          () => apply(withTerm(look(), { kind: 'where', value: `${name}:*` })),
        ],
        ['Only records without it', () => apply(withTerm(look(), { kind: 'where', value: `!${name}:*` }))],
      ],
      at: spotUnder(part),
    })
  const openColumn = (name: string, part: HTMLElement) => {
    const columns = fields()
    const index = columns.indexOf(name)
    const moved = (by: number) =>
      showColumns(columns.with(index, columns[index + by]!).with(index + by, name))
    const sort = (down: boolean) => () => void reader.current?.sort({ field: name, down })
    const entries: Choice['entries'] = [
      ['Sort what is loaded, largest first', sort(true)],
      ['Sort what is loaded, smallest first', sort(false)],
    ]
    if (reader.current?.window.sorted) entries.push(['Order of time', () => void reader.current?.sort(null)])
    if (index > 0) entries.push(['Move left', () => moved(-1)])
    if (index < columns.length - 1) entries.push(['Move right', () => moved(1)])
    entries.push(['Remove', () => showColumns(toggled(columns, name))])
    setChoice({ label: name, entries, at: spotUnder(part) })
  }
  const copyLink = (seq: number) => {
    note({ ...look(), ...reader.current!.placeOf(seq), follow: false })
    void put(location.href, say, 'Link copied')
  }
  return {
    apply,
    highlight,
    showAround,
    leave,
    showOthers,
    copyText,
    toggleFollow,
    copyLink,
    say,
    openValue,
    openField,
    openColumn,
    showColumns,
    choice,
    setChoice,
  }
}

export type Acts = ReturnType<typeof useActs>

async function copyRecords(reader: Reader | null, columns: boolean, say: (message: string) => void) {
  if (reader === null || reader.window.items.length === 0) return
  const copied = reader.text(columns)
  if (copied.text.length > CLIPBOARD) return say('That is too much for the clipboard. Export it instead')
  await put(copied.text, say, `${counted(copied.records, 'record')} copied`)
}

/** Characters that the clipboard takes without freezing the browser. */
const CLIPBOARD = 64 * 1024 * 1024

const COMPARED = ['>', '>=', '<', '<='] as const

/** How a field can be compared, and what that is in the search field. */
const FIELD_SIGNS: [sign: string, typed: string][] = [
  ['=', ':'],
  ['≠', '!='],
  ...COMPARED.map((sign): [string, string] => [SIGNS[sign], sign]),
]

/** Puts the beginning of a condition into the search field, which offers values. */
function startTyping(text: string): void {
  const field = document.querySelector<HTMLInputElement>('.finder [data-find]')!
  field.value = text
  field.dispatchEvent(new InputEvent('input', { bubbles: true }))
  field.focus()
}

/** Level, source, tags and the message have columns of their own. */
function isField(name: string): boolean {
  return !['', 'level', 'source', 'tag', 'message'].includes(name)
}

function brief(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}
