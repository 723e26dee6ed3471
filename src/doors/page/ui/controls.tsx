import type { ButtonHTMLAttributes, ComponentChildren } from 'preact'
import { Icon, type IconName } from './icons.tsx'

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  icon?: IconName
  /** Words that give way where there is little room. */
  label?: string
}

/** A button that acts on the page and submits no form. */
export function Button({ icon, label, children, ...rest }: ButtonProps) {
  return (
    <button type="button" {...rest}>
      {icon !== undefined && (
        <>
          <Icon name={icon} />{' '}
        </>
      )}
      {label !== undefined && <span class="label">{label}</span>}
      {children}
    </button>
  )
}

interface CheckProps {
  on: boolean
  toggle: () => void
  children: ComponentChildren
}

/** A box to check, with its label. */
export function Check({ on, toggle, children }: CheckProps) {
  return (
    <label class="check">
      <input type="checkbox" checked={on} onChange={toggle} />
      {children}
    </label>
  )
}

interface SearchProps {
  label: string
  /** @default the label */
  placeholder?: string
  class?: string
  /** Whether `/` leads here. */
  'data-find'?: boolean
  value: string
  set: (text: string) => void
}

/** A field that narrows what is shown with every letter. */
export function Search({ label, set, ...rest }: SearchProps) {
  const narrow = (event: { currentTarget: HTMLInputElement }) => set(event.currentTarget.value)
  return <input type="search" placeholder={label} aria-label={label} {...rest} onInput={narrow} />
}
