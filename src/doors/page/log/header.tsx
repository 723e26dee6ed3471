import { useRef } from 'preact/hooks'
import { Button } from '../ui/controls.tsx'
import { useListener } from '../ui/listener.ts'
import { columnsOf } from './record/rows.ts'
import type { Log } from './use-log.ts'

/** The names above the columns, each of a field with a menu. It scrolls sideways with the list. */
export function Header({ log }: { log: Log }) {
  const { box } = log
  const header = useRef<HTMLDivElement>(null)
  useListener(box, 'scroll', () => {
    if (header.current !== null) header.current.scrollLeft = box.current!.scrollLeft
  })
  return (
    <div ref={header} class="header">
      <div class="line">
        {log.sources !== null && <span class="o" />}
        <span class="fold" />
        {columnsOf(log.sources).map(({ name, title }) => (
          <span key={name} class={name}>
            {title}
          </span>
        ))}
        {log.made?.columns.fields.map(({ name, chars, numeric }) => (
          <span key={name} class={numeric ? 'x number' : 'x'} style={{ width: `${chars}ch` }}>
            <Button
              aria-haspopup="menu"
              aria-label={`Column ${name}`}
              title={name}
              onClick={(event) => log.acts.openField(name, event.currentTarget)}
            >
              {name}
            </Button>
          </span>
        ))}
        <span class="m">Message</span>
      </div>
    </div>
  )
}
