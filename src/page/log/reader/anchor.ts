import type { Look } from '../../url.ts'
import { isNarrowed } from '../find/query.ts'
import type { VirtualList } from '../list/list.ts'
import type { Goal } from './places.ts'
import { timeNear } from './survey.ts'
import type { LogWindow } from './window.ts'

/** What an anchor looks at. */
interface View {
  readonly window: LogWindow
  readonly list: VirtualList
  readonly look: Look
  readonly selected: { to: number } | null
  readonly following: boolean
}

/** Finds the record that the user is reading, which stays when the view changes. */
export class Anchor {
  /** Where this view was opened; undefined once the user has moved in it. */
  origin: Goal | null | undefined
  readonly #view: View

  constructor(view: View) {
    this.#view = view
  }

  /**
   * The selected record, if it is in view, otherwise the one at the top; null for the end of the log. While the user
   * has not moved, it is the one that this view was opened for, shown here or not.
   */
  goal(): Goal | null {
    const { window, list, look, selected, following } = this.#view
    if (this.origin !== undefined) return this.origin
    if (following) return null
    if (selected !== null && list.isInView(selected.to)) return this.goalAt(selected.to, true)
    if (list.stick && !isNarrowed(look)) return null
    let { seq } = list.top()
    while (seq < window.endSeq - 1 && typeof window.item(seq) !== 'string') seq++
    return this.goalAt(seq, false)
  }

  goalAt(seq: number, marked: boolean): Goal | null {
    const { window, list } = this.#view
    const line = window.item(seq)
    if (typeof line !== 'string') return null
    const place = window.place(seq)
    const cursor = place === null || place.offset < 0 ? null : place.cursor
    return { line, time: timeNear(window, seq), cursor, marked, expand: false, top: list.offsetOf(seq) }
  }
}

/** A moment to go to, of which no record is known. */
export function momentGoal(time: string): Goal {
  return { line: null, time, cursor: null, marked: false, expand: false, top: null }
}
