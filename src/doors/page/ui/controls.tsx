import type { ButtonHTMLAttributes, ComponentChildren } from 'preact'

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

/** Small line icons, drawn on a 16 px grid; all are decoration beside a label. */
const PATHS = {
  moon: 'M13 9.8A5.5 5.5 0 0 1 6.2 3 5.5 5.5 0 1 0 13 9.8Z',
  sun: 'M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6ZM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1.1 1.1M11.9 11.9 13 13M3 13l1.1-1.1M11.9 4.1 13 3',
  auto: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2Zm0 0v12',
  help: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2ZM6.2 6.2a1.9 1.9 0 1 1 2.6 2c-.6.3-.8.6-.8 1.2M8 11.4v.1',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.4 10.4 14 14',
  copy: 'M6 5.5h7.5V14H6ZM3 10.5h-.5V2H10v.5',
  down: 'M8 2.5v11M3.5 9 8 13.5 12.5 9',
  save: 'M8 2v8M4.5 7 8 10.5 11.5 7M2.5 13.5h11',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  filter: 'M2 3.5h12L9.5 9v4.5l-3-1.5V9Z',
  fields: 'M2 4h4M9 4h5M2 8h6M11 8h3M2 12h3M8 12h6',
  export: 'M8 10V2M4.5 5.5 8 2l3.5 3.5M2.5 10v3.5h11V10',
  clock: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2ZM8 4.8V8l2.2 1.6',
  close: 'M4 4l8 8M12 4l-8 8',
  back: 'M10 3 5 8l5 5',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      class={`icon i-${name}`}
      viewBox="0 0 16 16"
      width="16"
      height="16"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  )
}
