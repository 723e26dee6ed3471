import type { RefObject } from 'preact'
import { useState } from 'preact/hooks'
import { put } from '../ui/clipboard.ts'
import { counted } from '../ui/format.ts'
import { hand } from '../ui/store.ts'
import { type Look, NO_COLUMNS, NOWHERE, toggled } from '../url.ts'
import { isFiltered } from './find/query.ts'
import { type Value, withTerm, withValue } from './find/terms.ts'
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
  const showAround = (seq: number) => {
    const made = reader.current
    if (made === null) return
    if (!isFiltered(look()) || look().all) made.list.show(seq, 'center')
    else apply({ all: true }, made.goalAround(seq))
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
  const showColumns = (names: string[]) =>
    go({ ...look(), columns: names.length === 0 ? [NO_COLUMNS] : names })
  const column = (name: string): Choice['entries'][number] => [
    fields().includes(name) ? 'Remove the column' : 'Show as column',
    () => showColumns(toggled(fields(), name)),
  ]

  const openValue = ({ field, value }: Value, at: Spot) => {
    const entries: Choice['entries'] = [
      ['Only records with this', () => apply(withValue(look(), { field, value }, false))],
      ['Hide records with this', () => apply(withValue(look(), { field, value }, true))],
      ...(isField(field) ? [column(field)] : []),
      ['Copy', () => void put(value, say, 'Value copied')],
    ]
    setChoice({ label: field === '' ? `“${brief(value)}”` : `${field}: ${brief(value)}`, entries, at })
  }
  const openField = (name: string, part: HTMLElement) => {
    const filter = (value: string) => () => apply(withTerm(look(), { kind: 'where', value }))
    setChoice({
      label: name,
      entries: [
        column(name),
        ['Only records with this field', filter(`${name}:*`)],
        ['Only records without it', filter(`!${name}:*`)],
        ['Filter by its value …', () => startTyping(`${name}:`)],
      ],
      at: spotUnder(part),
    })
  }
  const copyLink = (seq: number) => {
    note({ ...look(), ...reader.current!.placeOf(seq), follow: false })
    void put(location.href, say, 'Link copied')
  }
  return {
    apply,
    showAround,
    showOthers,
    copyText,
    toggleFollow,
    copyLink,
    say,
    openValue,
    openField,
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
