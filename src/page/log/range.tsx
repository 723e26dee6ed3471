import { useEffect, useRef, useState } from 'preact/hooks'
import { Icon } from '../ui/icons.tsx'

interface Props {
  since: string
  until: string
  choose: (since: string, until: string) => void
}

const PRESETS: [string, string][] = [
  ['15m', 'Last 15 minutes'],
  ['1h', 'Last hour'],
  ['6h', 'Last 6 hours'],
  ['24h', 'Last 24 hours'],
]

/** Chooses a time range: a preset, or from and to in words that the API takes. */
export function Range({ since, until, choose }: Props) {
  const [open, setOpen] = useState(false)
  const box = useRef<HTMLDivElement>(null)
  const from = useRef<HTMLInputElement>(null)
  const to = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (!open) return
    from.current?.focus()
    const outside = (event: Event) => {
      if (!box.current?.contains(event.target as Node)) setOpen(false)
    }
    document.addEventListener('pointerdown', outside)
    return () => document.removeEventListener('pointerdown', outside)
  }, [open])
  const set = (nextSince: string, nextUntil: string) => {
    setOpen(false)
    choose(nextSince.trim(), nextUntil.trim())
  }
  const apply = () => set(from.current!.value, to.current!.value)
  const active = since !== '' || until !== ''
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only hears the keys of the fields inside
    <div
      class="range"
      ref={box}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && open) {
          event.stopPropagation()
          setOpen(false)
        } else if (event.key === 'Enter' && event.target instanceof HTMLInputElement) {
          // The fields stand inside the finder's form, which has its own Enter.
          event.preventDefault()
          apply()
        }
      }}
    >
      <button
        type="button"
        class={active ? 'on' : ''}
        aria-expanded={open}
        aria-haspopup="dialog"
        onClick={() => setOpen(!open)}
      >
        <Icon name="clock" />
        <span class="label">{label(since, until)}</span>
      </button>
      {active && (
        <button type="button" class="quiet" aria-label="Show all time" onClick={() => set('', '')}>
          <Icon name="close" />
        </button>
      )}
      {open && (
        <div class="panel" role="dialog" aria-label="Time range">
          <div class="presets">
            <button type="button" onClick={() => set('', '')}>
              All time
            </button>
            {PRESETS.map(([value, name]) => (
              <button type="button" key={value} onClick={() => set(value, '')}>
                {name}
              </button>
            ))}
          </div>
          <label>
            From
            <input ref={from} defaultValue={since} placeholder="2026-01-31 02:10, or 2h" spellcheck={false} />
          </label>
          <label>
            To
            <input ref={to} defaultValue={until} placeholder="2026-01-31 02:15, or 15m" spellcheck={false} />
          </label>
          <p class="hint">A time as the log writes it, ISO 8601 with a zone, or how long ago: 15m, 2h, 3d.</p>
          <button type="button" class="primary" onClick={apply}>
            Apply
          </button>
        </div>
      )}
    </div>
  )
}

function label(since: string, until: string): string {
  if (since === '' && until === '') return 'All time'
  const preset = PRESETS.find(([value]) => value === since)
  if (preset !== undefined && until === '') return preset[1]
  const short = (text: string) => text.replace(/^\d{4}-(?=\d\d-\d\d[ T])/, '').replace(/\.\d+$/, '')
  if (until === '') return `From ${short(since)}`
  if (since === '') return `Until ${short(until)}`
  const sameDay = /^\d{4}-\d\d-\d\d[ T]/.test(since) && since.slice(0, 10) === until.slice(0, 10)
  return `${short(since)} – ${sameDay ? short(until).slice(6) : short(until)}`
}
