import type { Cursor } from '../../text/cursor.ts'
import type { View } from '../../view/answer.ts'
import { stateOf } from '../../view/session.ts'
import type { LogPage } from '../../view/view.ts'

/** A page of a log: which part of the track it covers. */
interface TrackPage extends LogPage {
  near: number
  far: number
}

/** The pages of a log that were read one after the other. A place among them is a distance from where reading began. */
export class Track {
  readonly #forward: boolean
  readonly #pages: TrackPage[] = []
  #isReleased = false
  far = 0

  constructor(forward: boolean) {
    this.#forward = forward
  }

  get first(): View | undefined {
    return this.#pages[0]?.view
  }

  get last(): LogPage | undefined {
    return this.#pages.at(-1)
  }

  /** The state of the files; it changes with each of them. */
  get state(): string {
    return this.first ? stateOf(this.first.series) : ''
  }

  /** Where the next page continues; null at the start of the track and of the log. */
  get cursor(): Cursor | null {
    return (this.#forward ? this.last?.view.next : this.last?.view.prev) ?? null
  }

  /** Adds a page. One that comes after the release was still being read when another log failed, or the client left. */
  add(page: LogPage): void {
    if (this.#isReleased) page.view.memory?.release()
    const near = this.far
    this.far += page.view.to - page.view.from
    this.#pages.push({ ...page, near, far: this.far })
  }

  /** How far a part [start, end) of the last page is from where reading began. */
  distanceOf(start: number, end: number): number {
    const { view, near } = this.#pages.at(-1)!
    return near + (this.#forward ? start - view.from : view.to - end)
  }

  /** A distance along the track as one in the log. */
  signed(distance: number): number {
    return this.#forward ? distance : -distance
  }

  async cursorAt(distance: number): Promise<Cursor> {
    const last = this.#pages.at(-1)!
    const page = this.#pages.find(({ near, far }) => distance >= near && distance <= far) ?? last
    const { view } = page
    if (page === last && distance === this.far && this.cursor) return this.cursor
    const inside = distance - page.near
    return view.series.cursor(this.#forward ? view.from + inside : view.to - inside)
  }

  /** Forgets the pages before a distance, except the last one. */
  drop(distance: number): void {
    while (this.#pages.length > 1 && this.#pages[0]!.far <= distance)
      this.#pages.shift()!.view.memory?.release()
  }

  release(): void {
    this.#isReleased = true
    for (const { view } of this.#pages) view.memory?.release()
  }
}
