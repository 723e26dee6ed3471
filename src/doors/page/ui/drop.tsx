import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { Icon, type IconName } from './icons.tsx'
import { useDismiss } from './listener.ts'

interface Props {
  icon: IconName
  /** @default the title, for those who do not see the icon */
  label?: string
  title: string
  children: ComponentChildren
}

/** A button that opens a panel, which closes on Escape, on a click outside, and on a click on a button in it. */
export function Drop({ icon, label, title, children }: Props) {
  const box = useRef<HTMLDetailsElement>(null)
  useDismiss(box, () => {
    box.current!.open = false
  })
  const close = () => {
    // What was chosen may have led elsewhere.
    if (box.current === null) return
    box.current.open = false
    box.current.querySelector('summary')!.focus()
  }
  return (
    <details
      ref={box}
      class="menu"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !box.current!.open) return
        event.stopPropagation()
        close()
      }}
    >
      <summary title={title}>
        <Icon name={icon} />{' '}
        {label === undefined ? <span class="hidden">{title}</span> : <span class="label">{label}</span>}
      </summary>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: a button's click is its Enter, too */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: it only hears the clicks of the buttons inside */}
      <div
        class="panel"
        onClick={(event) => {
          if ((event.target as HTMLElement).closest('button') !== null) close()
        }}
      >
        {children}
      </div>
    </details>
  )
}
