import { put } from '../ui/clipboard.ts'
import { spotUnder } from './menu.tsx'
import type { Reader } from './reader/reader.ts'
import { textOf } from './record/record.ts'
import type { Acts } from './use-acts.ts'

const ACTS: Record<string, (seq: number, reader: Reader, acts: Acts) => unknown> = {
  whole: (seq, reader) => reader.showWhole(seq),
  around: (seq, _, acts) => acts.showAround(seq),
  others: (seq, _, acts) => acts.showOthers(seq),
  'copy-line': (seq, reader, acts) => put(lineOf(reader, seq), acts.say, 'Line copied'),
  'copy-message': (seq, { window }, acts) =>
    put(textOf(window.item(seq)!, false), acts.say, 'Message copied'),
  'copy-link': (seq, _, acts) => acts.copyLink(seq),
}

function lineOf({ window }: Reader, seq: number): string {
  return textOf(window.item(seq)!, true)
}

/** A click on a row: one of its buttons, one of its values, or the row itself. */
export function clickRow(event: MouseEvent, reader: Reader | null, acts: Acts): void {
  const from = event.target as HTMLElement
  const row = from.closest<HTMLElement>('.row')
  if (reader === null || row === null || row.classList.contains('note')) return
  const seq = Number(row.dataset.seq)
  if (event.shiftKey) {
    // The browser has extended its own text selection to here, which the user did not intend.
    getSelection()?.removeAllRanges()
    reader.select(seq, true)
    return
  }
  const act = from.closest<HTMLElement>('[data-act]')?.dataset.act
  const part = from.closest<HTMLElement>('.v')
  const { field, value } = part?.dataset ?? {}
  if (act !== undefined && act !== 'fold') return void ACTS[act]?.(seq, reader, acts)
  const isSelecting = getSelection()?.isCollapsed === false
  if (field !== undefined && value !== undefined && !isSelecting)
    return void acts.openValue({ field, value }, spotUnder(part!))
  if (from.closest('.details') !== null) return
  // Selecting text with the mouse must not collapse the row under it.
  if (isSelecting) return void clearTimeout(toggling)
  reader.select(seq)
  clearTimeout(toggling)
  if (event.detail > 1) return
  // A second click selects a word, so the row must not move before it.
  if (from.closest('.m') === null || from.closest('button') !== null) reader.toggle(seq)
  else toggling = setTimeout(() => reader.toggle(seq), DOUBLE)
}

let toggling: ReturnType<typeof setTimeout> | undefined
const DOUBLE = 220

/** A mouse selection across several cells is copied as whole lines, as in the log. */
export function copyRows(event: ClipboardEvent, reader: Reader | null, box: HTMLElement): void {
  const selection = getSelection()
  if (reader === null || selection === null || selection.isCollapsed) return
  const touched = (part: Element) => selection.containsNode(part, true)
  const rows = [...box.querySelectorAll<HTMLElement>('.row:not(.note)')].filter(touched)
  const cells = rows.length === 1 ? [...rows[0]!.querySelectorAll('.line > span')].filter(touched) : []
  if (rows.length === 0 || (rows.length === 1 && cells.length < 2)) return
  const lines = rows.map((row) => lineOf(reader, Number(row.dataset.seq)))
  event.clipboardData?.setData('text/plain', `${lines.join('\n')}\n`)
  event.preventDefault()
}
