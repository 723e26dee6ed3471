import type { Look } from '../../url.ts'
import { type Clock, clockOf, type ZoneChoice } from '../find/clock.ts'
import { isFiltered } from '../find/query.ts'
import type { VirtualList } from '../list/list.ts'
import type { Item } from '../record/record.ts'
import { estimateRow, renderRow } from '../record/rows.ts'
import type { Sources } from '../record/source.ts'
import { Columns } from './columns.ts'
import type { Hits } from './hits.ts'
import { charactersPerLine, gapBefore, isUnsettled } from './survey.ts'
import type { LogWindow } from './window.ts'

/** How records are displayed. */
export interface DisplayOptions {
  wrap: boolean
  /** Whether rows show the time since the record above. */
  gaps: boolean
  /** Fields that are shown as columns. */
  fields: readonly string[]
  /** Classes that hide columns. */
  classes: string
  zone: ZoneChoice
  /** The logs that are read as one, or null for a single one. */
  sources: Sources | null
  /** Whether there are other logs or nodes to look at. */
  others: boolean
}

/** What is displayed. */
interface Shown {
  readonly window: LogWindow
  readonly list: VirtualList
  readonly look: Look
  readonly hits: Hits
  /** The columns changed, which the header shows as well. */
  changed(): void
}

/** How the records are displayed: wrapped, in columns, in a time zone, some of them expanded. */
export class Display {
  readonly columns: Columns
  /** The selected records, from the one that was clicked first to the last. */
  selected: { from: number; to: number } | null = null
  readonly #box: HTMLElement
  readonly #of: Shown
  readonly #open = new Set<number>()
  readonly #whole = new Set<number>()
  /** The hit that the user jumped to. */
  #revealed: number | null = null
  #options: DisplayOptions
  /** For the times of records, which say their zone themselves. */
  #clock: Clock

  constructor(box: HTMLElement, shown: Shown, options: DisplayOptions) {
    this.#box = box
    this.#of = shown
    this.#options = options
    this.#clock = clockOf(options.zone, 0)
    this.columns = new Columns(box.parentElement!)
    this.columns.gaps = options.gaps
    this.columns.showFields(options.fields, [])
  }

  /** Shows the records in another way. */
  set(options: DisplayOptions): void {
    const { wrap, gaps, fields, classes, zone, sources, others } = options
    const before = this.#options
    this.#options = options
    const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)
    const sameFields = isSame(fields, before.fields)
    if (!sameFields) this.columns.showFields(fields, this.#of.window.items)
    this.columns.gaps = gaps
    this.#clock = clockOf(zone, 0)
    if (!sameFields || wrap !== before.wrap || classes !== before.classes) this.relayout()
    else if (
      !isSame([gaps, zone, sources, others], [before.gaps, before.zone, before.sources, before.others])
    )
      this.#of.list.refresh()
    else return
    this.#of.changed()
  }

  /** Other records are shown. */
  reset(items: readonly Item[]): void {
    this.selected = null
    this.#revealed = null
    this.#open.clear()
    this.#whole.clear()
    this.columns.reset(items)
  }

  render(seq: number): HTMLElement {
    const { window, hits, look } = this.#of
    const item = window.item(seq) ?? ''
    const row = renderRow(item, seq, {
      marks: hits.marks,
      clock: this.#clock,
      open: this.#open.has(seq),
      whole: this.#whole.has(seq),
      reveal: this.#revealed === seq,
      around: !look.all && isFiltered(look),
      selected: this.#isSelected(seq),
      fields: this.columns.fields,
      sources: this.#options.sources,
      others: this.#options.others,
      unsettled: isUnsettled(window, seq),
      gaps: this.columns.gaps,
      gap: this.columns.gaps ? gapBefore(window, seq) : null,
    })
    if (look.all && hits.isHit(item)) row.classList.add('hit')
    return row
  }

  estimate(seq: number): number {
    return estimateRow(this.#of.window.item(seq) ?? '', charactersPerLine(this.#box, this.#options.wrap))
  }

  /** Records were added, which may need wider columns. */
  measure(items: readonly Item[]): void {
    if (!this.columns.measure(items)) return
    this.#of.list.refresh()
    this.#of.changed()
  }

  /** A record came in between: what was expanded below it has another seq now. */
  shift(seq: number): void {
    const moved = (each: number) => (each < seq ? each : each + 1)
    for (const set of [this.#open, this.#whole]) {
      const all = [...set].map(moved)
      set.clear()
      for (const each of all) set.add(each)
    }
    if (this.#revealed !== null) this.#revealed = moved(this.#revealed)
    if (this.selected !== null)
      this.selected = { from: moved(this.selected.from), to: moved(this.selected.to) }
  }

  /** Selects a record, with all between it and the one that was clicked first if that is wanted; null for none. */
  select(seq: number | null, extend = false): void {
    const { list } = this.#of
    // Only rows in the document are drawn again, and there are never many of them.
    const drawn = () => list.shown().filter((each) => this.#isSelected(each))
    const before = drawn()
    const from = (extend ? this.selected?.from : null) ?? seq
    this.selected = seq === null ? null : { from: from!, to: seq }
    list.refresh([...before, ...drawn()])
  }

  /** The selected records in order. */
  get bounds(): [number, number] | null {
    if (this.selected === null) return null
    const { from, to } = this.selected
    return from <= to ? [from, to] : [to, from]
  }

  #isSelected(seq: number): boolean {
    const { bounds } = this
    return bounds !== null && seq >= bounds[0] && seq <= bounds[1]
  }

  expand(seq: number): void {
    this.#open.add(seq)
  }

  toggle(seq: number): void {
    if (!this.#open.delete(seq)) this.#open.add(seq)
    this.#of.list.refresh([seq])
    this.#of.list.show(seq)
  }

  /** Shows all of a record that was clipped. */
  showWhole(seq: number): void {
    this.#whole.add(seq)
    this.#of.list.refresh([seq])
  }

  /** Shows a hit itself, even inside collapsed lines, far inside a long line, or beyond the right edge. */
  reveal(seq: number): void {
    const { list, hits } = this.#of
    const before = this.#revealed
    this.#revealed = seq
    list.refresh(before === null ? [seq] : [before, seq])
    list.show(seq, 'center')
    if (!hits.searched) return
    if (shownMark(list.element(seq)) === null && !this.#open.has(seq)) {
      this.#open.add(seq)
      list.refresh([seq])
      list.show(seq, 'center')
    }
    scrollToMark(this.#box, list, shownMark(list.element(seq)))
  }

  /** Rows have other heights now. What the user reads stays in view: a hit, the selected record, or the top one. */
  relayout(): void {
    const { list } = this.#of
    const hit = this.#revealed
    const seen = hit !== null && isMarkInView(this.#box, shownMark(list.element(hit)))
    list.relayout(this.selected?.to ?? null)
    if (!seen) return
    if (shownMark(list.element(hit)) === null) list.show(hit, 'start')
    scrollToMark(this.#box, list, shownMark(list.element(hit)))
  }
}

/** The first mark of a search hit in a row that can be seen, or would be if the list scrolled there. */
function shownMark(row: HTMLElement | undefined): HTMLElement | null {
  for (const mark of row?.querySelectorAll<HTMLElement>('mark.f') ?? []) {
    const { width, right } = mark.getBoundingClientRect()
    const cell = mark.closest('.s, .g')
    if (width > 0 && (cell === null || right <= cell.getBoundingClientRect().right + 1)) return mark
  }
  return null
}

function isMarkInView(box: HTMLElement, mark: HTMLElement | null): boolean {
  if (mark === null) return false
  const view = box.getBoundingClientRect()
  const { top, bottom } = mark.getBoundingClientRect()
  return bottom > view.top && top < view.bottom
}

/** Scrolls the list, in both directions, until a mark in one of its rows is in view. */
function scrollToMark(box: HTMLElement, list: VirtualList, mark: HTMLElement | null): void {
  if (mark === null) return
  const view = box.getBoundingClientRect()
  const place = mark.getBoundingClientRect()
  if (place.top < view.top || place.bottom > view.bottom)
    list.scrollBy(place.top - view.top - view.height / 2.5)
  // The time column stays at the left edge and would cover what is under it.
  const time = box.querySelector('.row .t')?.getBoundingClientRect().width ?? 0
  const left = view.left + time + 30
  if (place.left < left || place.right > view.left + box.clientWidth - 10)
    box.scrollLeft += place.left - left - (view.right - left) / 3
}
