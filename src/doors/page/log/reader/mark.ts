import type { VirtualList } from '../list/list.ts'

/** The first mark of a search hit in a row that can be seen, or would be if the list scrolled there. */
export function shownMark(row: HTMLElement | undefined): HTMLElement | null {
  for (const mark of row?.querySelectorAll<HTMLElement>('mark') ?? []) {
    const { width, right } = mark.getBoundingClientRect()
    const cell = mark.closest('.s, .g')
    if (width > 0 && (cell === null || right <= cell.getBoundingClientRect().right + 1)) return mark
  }
  return null
}

export function isMarkInView(box: HTMLElement, mark: HTMLElement | null): boolean {
  if (mark === null) return false
  const view = box.getBoundingClientRect()
  const { top, bottom } = mark.getBoundingClientRect()
  return bottom > view.top && top < view.bottom
}

/** Scrolls the list, in both directions, until a mark in one of its rows is in view. */
export function scrollToMark(box: HTMLElement, list: VirtualList, mark: HTMLElement | null): void {
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
