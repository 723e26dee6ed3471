import { element } from '../record/styled.ts'
import { Heights } from './heights.ts'

/** What the list asks of its owner. A row is known by its `seq`, which never changes; its index does. */
export interface Rows {
  first(): number
  render(seq: number): HTMLElement
  estimate(seq: number): number
  /** Whether the last row is the log's last, so that what is appended stays in view. */
  complete(): boolean
  /** The width changed: the owner calls `relayout`. */
  resized(): void
  /** The rows in view changed: the first and last seq that show, and whether the end is in view. */
  scrolled(first: number, last: number, atEnd: boolean): void
}

/**
 * A list of rows of any height, of which only those in view are in the document. Browsers cap an element's height
 * (Firefox near 17.8 million pixels), which 100,000 rows stay below.
 *
 * The place that the reader sees is `scrollTop + shift`. Rows that come in above, and rows that turn out taller than
 * guessed, change only the shift: nothing jumps under the reader's hand. When the hand rests, the shift is folded away.
 */
export class VirtualList {
  readonly heights = new Heights()
  /** Whether the end stays in view as rows are appended. */
  stick = true
  readonly #scroller: HTMLElement
  readonly #canvas: HTMLElement
  readonly #rows: HTMLElement
  readonly #source: Rows
  readonly #shown = new Map<number, HTMLElement>()
  readonly #observer: ResizeObserver
  #shift = 0
  #lastTop = 0
  #width = 0
  #frame = 0
  #idle: ReturnType<typeof setTimeout> | undefined
  #held = false
  #abort = new AbortController()

  constructor(scroller: HTMLElement, source: Rows) {
    this.#scroller = scroller
    this.#source = source
    this.#rows = element('div', { class: 'rows', role: 'list', 'aria-label': 'Records' })
    this.#canvas = element('div', { class: 'canvas', role: 'presentation' }, this.#rows)
    scroller.append(this.#canvas)
    const { signal } = this.#abort
    scroller.addEventListener('scroll', () => this.#onScroll(), { passive: true, signal })
    // While the scrollbar or a finger is held, scrollTop belongs to the reader.
    const hold = (held: boolean) => () => {
      this.#held = held
      if (!held) this.#settle()
    }
    for (const name of ['pointerdown', 'touchstart'])
      scroller.addEventListener(name, hold(true), { passive: true, signal })
    for (const name of ['pointerup', 'pointercancel', 'touchend', 'touchcancel'])
      document.addEventListener(name, hold(false), { passive: true, signal })
    this.#observer = new ResizeObserver(() => this.#onResize())
    this.#observer.observe(scroller)
  }

  destroy(): void {
    this.#abort.abort()
    this.#observer.disconnect()
    cancelAnimationFrame(this.#frame)
    clearTimeout(this.#idle)
    this.#canvas.remove()
  }

  get atEnd(): boolean {
    return this.#place + this.#view >= this.heights.total - 4
  }

  /** Pixels above and below what is in view. */
  get beyond(): { above: number; below: number } {
    return { above: this.#place, below: this.heights.total - this.#place - this.#view }
  }

  /** All rows are new; the owner says which of them to show. */
  reset(count: number): void {
    this.#clear()
    // Otherwise, rows that are loaded on the way to a place would scroll the list to its end.
    this.stick = false
    this.heights.reset(this.#estimates(0, count))
    this.#go(0)
  }

  /** Rows went, or came. What is at the top of the view stays there, or the end does. */
  splice(index: number, removed: number, added: number): void {
    const { index: top, into } = this.#anchor()
    const before = this.heights.length
    // Rows behind those that came in between have other seqs now.
    if (index > 0 && index + removed < before) this.#clear()
    this.heights.splice(index, removed, this.#estimates(index, added))
    if (this.stick && (index > 0 || before === 0)) this.toEnd()
    else if (top < index || before === 0) this.#draw()
    else this.#move(this.heights.top(Math.max(index, top - removed + added)) + into)
  }

  /** Redraws these rows, or all of them; heights are measured again. */
  refresh(seqs?: Iterable<number>): void {
    if (seqs === undefined) this.#clear()
    else
      for (const seq of seqs) {
        this.#shown.get(seq)?.remove()
        this.#shown.delete(seq)
      }
    this.#draw()
  }

  /**
   * The layout changed (wrap, width): all guesses are made again. The row `pinned` stays, or else the first one that
   * begins in view; a list that is followed stays at its end.
   */
  relayout(pinned: number | null, following: boolean): void {
    if (this.heights.length === 0) return
    const stick = this.stick && following
    const { seq: top, into } = this.top()
    const begins = into > 0 && this.isInView(top + 1) ? top + 1 : top
    const seq = pinned !== null && this.isInView(pinned) ? pinned : begins
    // Of a row that begins above the view, the same part of its text stays, not the same pixel.
    const offset = this.offsetOf(seq)
    const share = offset < 0 ? offset / this.heights.get(seq - this.#source.first()) : 0
    this.#clear()
    this.heights.reset(this.#estimates(0, this.heights.length))
    if (stick && seq !== pinned) this.toEnd()
    else this.place(seq, (height) => (offset < 0 ? share * height : offset))
  }

  /** Puts a row so that it begins `offset` pixels below the top of the view. */
  place(seq: number, offset: number | ((height: number) => number)): void {
    const index = seq - this.#source.first()
    if (index < 0 || index >= this.heights.length) return
    const goal = () =>
      this.heights.top(index) - (typeof offset === 'number' ? offset : offset(this.heights.get(index)))
    // Drawing measures the row and those above it, which moves it.
    for (let round = 0; round < 4; round++) {
      this.#go(goal())
      if (Math.abs(this.#place - goal()) < 1) break
    }
    this.stick = this.atEnd && this.#source.complete()
  }

  /** Pixels from the top of the view to a row. */
  offsetOf(seq: number): number {
    return this.heights.top(seq - this.#source.first()) - this.#place
  }

  isInView(seq: number): boolean {
    const index = seq - this.#source.first()
    if (index < 0 || index >= this.heights.length) return false
    const offset = this.offsetOf(seq)
    return offset + this.heights.get(index) > 0 && offset < this.#view
  }

  toEnd(): void {
    this.stick = true
    // Measuring the last rows moves the end: settle it, a few rounds are always enough.
    for (let round = 0; round < 4; round++) {
      this.#go(this.heights.total - this.#view)
      this.stick = true
      if (this.atEnd) break
    }
  }

  /** Brings a row into view; `align` places it, otherwise it moves only as far as needed. */
  show(seq: number, align?: 'start' | 'center'): void {
    const room = (height: number) => this.#view - height
    const offset = this.offsetOf(seq)
    if (align === 'center') this.place(seq, (height) => Math.max(0, room(height) / 2.5))
    else if (align === 'start' || offset < 0) this.place(seq, 0)
    else this.place(seq, (height) => Math.min(offset, Math.max(0, room(height))))
  }

  scrollBy(pixels: number): void {
    this.#go(this.#place + pixels)
    this.stick = this.atEnd && this.#source.complete()
  }

  /** The first seq in view and how far it is scrolled out. */
  top(): { seq: number; into: number } {
    const { index, into } = this.#anchor()
    return { seq: index + this.#source.first(), into }
  }

  shown(): number[] {
    return [...this.#shown.keys()]
  }

  element(seq: number): HTMLElement | undefined {
    return this.#shown.get(seq)
  }

  get #view(): number {
    return this.#scroller.clientHeight
  }

  get #place(): number {
    return this.#scroller.scrollTop + this.#shift
  }

  #anchor(): { index: number; into: number } {
    const place = Math.max(0, this.#place)
    const index = this.heights.at(place)
    return { index, into: place - this.heights.top(index) }
  }

  #estimates(from: number, count: number): number[] {
    const first = this.#source.first() + from
    return Array.from({ length: count }, (_, index) => this.#source.estimate(first + index))
  }

  #clear(): void {
    this.#shown.clear()
    this.#rows.replaceChildren()
  }

  /** The reader stays; only what a place is called changes. */
  #move(place: number): void {
    this.#shift = place - this.#scroller.scrollTop
    this.#draw()
    this.#settle()
  }

  #go(place: number): void {
    const target = Math.min(Math.max(0, place), Math.max(0, this.heights.total - this.#view))
    this.#canvas.style.height = `${this.heights.total}px`
    this.#scroller.scrollTop = target
    this.#lastTop = this.#scroller.scrollTop
    this.#shift = target - this.#lastTop
    this.#draw()
  }

  #onScroll(): void {
    // Cells that stay at the left edge cost twice the frame, so they do so only when needed.
    this.#scroller.classList.toggle('aside', this.#scroller.scrollLeft > 0)
    const top = this.#scroller.scrollTop
    if (top === this.#lastTop) return
    this.#lastTop = top
    cancelAnimationFrame(this.#frame)
    this.#frame = requestAnimationFrame(() => {
      this.stick = this.atEnd && this.#source.complete()
      this.#draw()
      this.#settle()
    })
  }

  #onResize(): void {
    const width = this.#scroller.clientWidth
    if (this.#width !== 0 && width !== this.#width) this.#source.resized()
    else if (this.stick) this.toEnd()
    else this.#draw()
    this.#width = width
  }

  /** Fold the shift away when the hand rests, or at once where the scrollbar ran out before the rows did. */
  #settle(): void {
    clearTimeout(this.#idle)
    const place = this.#place
    const end = Math.max(0, this.heights.total - this.#view)
    const top = this.#scroller.scrollTop
    const out =
      place < 0 ||
      place > end + 1 ||
      (top <= 0 && place > 1) ||
      (top >= this.heights.total - this.#view - 1 && place < end - 1)
    if (out) this.#go(place)
    else if (Math.abs(this.#shift) > 0.5 && !this.#held) {
      this.#idle = setTimeout(() => {
        if (!this.#held) this.#go(this.#place)
      }, 150)
    }
  }

  #draw(): void {
    const count = this.heights.length
    this.#canvas.style.height = `${this.heights.total}px`
    const base = this.#source.first()
    if (count === 0) {
      this.#clear()
      this.#source.scrolled(base, base - 1, true)
      return
    }
    const anchor = this.#anchor()
    for (let round = 0; round < 3; round++) {
      const place = this.#place
      const from = this.heights.at(Math.max(0, place - OVERSCAN))
      const to = Math.min(count - 1, this.heights.at(place + this.#view + OVERSCAN))
      if (!this.#fill(base, from, to)) break
      // Rows above the anchor changed height: keep the anchor where it was.
      this.#shift = this.heights.top(anchor.index) + anchor.into - this.#scroller.scrollTop
    }
    const visible = this.heights.at(Math.max(0, this.#place))
    const lowest = this.heights.at(this.#place + this.#view - 1)
    this.#source.scrolled(base + visible, base + lowest, this.atEnd)
  }

  /** Put rows from..to into the document and measure the new ones; true when a height was not as guessed. */
  #fill(base: number, from: number, to: number): boolean {
    for (const [seq, element] of this.#shown) {
      if (seq >= base + from && seq <= base + to) continue
      element.remove()
      this.#shown.delete(seq)
    }
    const fresh: [number, HTMLElement][] = []
    let next = this.#rows.firstElementChild
    for (let index = from; index <= to; index++) {
      const known = this.#shown.get(base + index)
      if (known !== undefined) {
        next = known.nextElementSibling
        continue
      }
      const element = this.#source.render(base + index)
      this.#rows.insertBefore(element, next)
      this.#shown.set(base + index, element)
      fresh.push([index, element])
    }
    this.#rows.style.transform = `translateY(${this.heights.top(from) - this.#shift}px)`
    let changed = false
    for (const [index, element] of fresh) {
      const height = element.getBoundingClientRect().height
      if (Math.abs(height - this.heights.get(index)) < 0.5) continue
      this.heights.set(index, height)
      changed = true
    }
    if (changed) this.#canvas.style.height = `${this.heights.total}px`
    return changed
  }
}

const OVERSCAN = 240
