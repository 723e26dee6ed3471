import type { RefObject } from 'preact'
import { useCallback, useState } from 'preact/hooks'
import { put } from '../ui/clipboard.ts'
import { count } from '../ui/format.ts'
import { type Look, NOWHERE } from '../url.ts'
import { isFiltered } from './find/query.ts'
import { termOf, type Value, withValue } from './find/terms.ts'
import { type Chosen, chosenAt, type MenuActs } from './menu.tsx'
import type { Goal } from './reader/places.ts'
import type { Reader } from './reader/reader.ts'

interface Options {
  reader: RefObject<Reader | null>
  /** Where the next reader begins. */
  goal: RefObject<Goal | null | undefined>
  /** The present look. */
  current: RefObject<Look>
  go: (look: Look) => void
  note: (look: Look) => void
  say: (message: string) => void
}

/** What a user can do with the records on the screen. */
export function useActs({ reader, goal, current, go, note, say }: Options) {
  const [chosen, setChosen] = useState<Chosen | null>(null)
  /** Another view of the same log; the record that the user is reading stays, or else its nearest neighbour. */
  const apply = useCallback(
    (change: Partial<Look>, wanted = reader.current?.goal() ?? null) => {
      goal.current = wanted
      const follow = reader.current?.following ?? current.current!.follow
      go({ ...current.current!, ...NOWHERE, follow: follow && wanted === null, ...change })
    },
    [go],
  )
  const highlight = useCallback((marks: string[]) => go({ ...current.current!, marks }), [go])
  const showAround = useCallback(
    (seq: number) => {
      const made = reader.current
      if (made === null) return
      if (!isFiltered(current.current!) || current.current!.all) made.list.show(seq, 'center')
      else apply({ all: true }, made.goalAround(seq))
    },
    [apply],
  )
  const copyText = useCallback((columns: boolean) => void copyRecords(reader.current, columns, say), [say])
  const toggleFollow = useCallback(() => {
    const made = reader.current
    if (made === null) return
    const on = !made.following
    note({ ...current.current!, follow: on, ...(on ? NOWHERE : {}) })
    void made.follow(on)
  }, [note])

  const menu: MenuActs = {
    include: (value) => apply(withValue(current.current!, value, false)),
    exclude: (value) => apply(withValue(current.current!, value, true)),
    highlight: ({ value }) => highlight([...current.current!.marks.filter((each) => each !== value), value]),
    chart: (value) => {
      const term = termOf(value, false)
      go({ ...current.current!, chart: `${term.kind}:${term.value}` })
    },
    copy: ({ value }) => void put(value, say, 'Value copied'),
  }
  const rowActs = {
    around: showAround,
    link(seq: number) {
      note({ ...current.current!, ...reader.current!.placeOf(seq), follow: false })
      void put(location.href, say, 'Link copied')
    },
    value: (part: HTMLElement, value: Value) => setChosen(chosenAt(part, value)),
    say,
  }
  return {
    apply,
    highlight,
    showAround,
    copyText,
    toggleFollow,
    menu,
    rowActs,
    chosen,
    setChosen,
  }
}

export type Acts = ReturnType<typeof useActs>

async function copyRecords(reader: Reader | null, columns: boolean, say: (message: string) => void) {
  if (reader === null || reader.window.items.length === 0) return
  const copied = reader.text(columns)
  if (copied.text.length > CLIPBOARD) return say('That is too much for the clipboard. Export it instead')
  const what = copied.records === 1 ? 'record' : 'records'
  await put(copied.text, say, `${count(copied.records)} ${what} copied`)
}

/** Characters that the clipboard takes without freezing the browser. */
const CLIPBOARD = 64 * 1024 * 1024
