import type { RefObject } from 'preact'
import { useRef } from 'preact/hooks'
import { useListener } from '../ui/listener.ts'
import type { Columns } from './reader/columns.ts'

interface Props {
  columns: Columns
  /** The list, with which the header scrolls sideways. */
  box: RefObject<HTMLElement | null>
  open: (name: string, part: HTMLElement) => void
}

/** The names above the columns, each of a field with a menu. */
export function Header({ columns, box, open }: Props) {
  const header = useRef<HTMLDivElement>(null)
  useListener(box, 'scroll', () => {
    if (header.current !== null) header.current.scrollLeft = box.current!.scrollLeft
  })
  return (
    <div ref={header} class="header">
      <div class="line">
        <span class="fold" />
        <span class="t">Time</span>
        {columns.gaps && <span class="d">Since</span>}
        <span class="l">Level</span>
        <span class="s">Source</span>
        <span class="g">Tags</span>
        {columns.fields.map(({ name, chars, numeric }) => (
          <span key={name} class={numeric ? 'x number' : 'x'} style={{ width: `${chars}ch` }}>
            <button
              type="button"
              aria-haspopup="menu"
              aria-label={`Column ${name}`}
              title={name}
              onClick={(event) => open(name, event.currentTarget)}
            >
              {name}
            </button>
          </span>
        ))}
        <span class="m">Message</span>
      </div>
    </div>
  )
}
