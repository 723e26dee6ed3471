import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../../ui/controls.tsx'
import { useDismiss } from '../../ui/listener.ts'
import type { Log } from '../use-log.ts'
import { rangeOf, rangeText, shownMoment, typedMoment } from './moment.ts'

const PRESETS: [string, string][] = [
  ['15m', 'Last 15 minutes'],
  ['1h', 'Last hour'],
  ['6h', 'Last 6 hours'],
  ['24h', 'Last 24 hours'],
  ['2d', 'Last 2 days'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
  ['', 'All time'],
]

type Wrong = 'since' | 'until' | 'go' | null

/** Chooses a time range: a preset, or from and to; or goes to a moment without narrowing. */
export function Range({ log }: { log: Log }) {
  const { look, clock } = log
  const [open, setOpen] = useState(false)
  const [wrong, setWrong] = useState<Wrong>(null)
  const box = useRef<HTMLDivElement>(null)
  const from = useRef<HTMLInputElement>(null)
  const to = useRef<HTMLInputElement>(null)
  const go = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    const panel = box.current!.querySelector<HTMLElement>('.panel')
    if (panel === null) return
    // By script, which the page's policy allows: the panel stays inside the window.
    panel.style.left = `${Math.min(0, innerWidth - 8 - panel.getBoundingClientRect().right)}px`
    setWrong(null)
    from.current?.focus()
  }, [open])
  useDismiss(box, () => setOpen(false))
  const set = (since: string, until: string) => {
    const next = rangeOf({ since, until }, clock)
    if ('wrong' in next) {
      setWrong(next.wrong)
      const field = next.wrong === 'since' ? from : to
      field.current?.focus()
      return
    }
    setOpen(false)
    log.acts.apply(next)
  }
  const apply = () => set(from.current!.value, to.current!.value)
  const goThere = () => {
    const moment = typedMoment(go.current!.value, clock)
    if (moment === null) return setWrong('go')
    setOpen(false)
    void log.reader.current?.goToTime(moment)
  }
  const field = (name: Wrong) => ({
    'aria-invalid': wrong === name,
    'aria-describedby': 'range-hint',
    spellcheck: false,
  })
  const active = look.since !== '' || look.until !== ''
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only hears the keys of the fields inside
    <div
      class="range"
      ref={box}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && open) {
          event.stopPropagation()
          setOpen(false)
          box.current?.querySelector('button')?.focus()
        } else if (event.key === 'Enter' && event.target instanceof HTMLInputElement) {
          // The fields are inside the finder's form, which handles Enter itself.
          event.preventDefault()
          if (event.target === go.current) goThere()
          else apply()
        }
      }}
    >
      <Button
        class={active ? 'on' : ''}
        aria-expanded={open}
        aria-haspopup="dialog"
        title="Time range, or go to a time (t)"
        data-range
        icon="clock"
        label={rangeText(look, clock)}
        onClick={() => setOpen(!open)}
      />
      {active && <Button icon="close" class="quiet" aria-label="Show all time" onClick={() => set('', '')} />}
      {open && (
        <div class="panel" role="dialog" aria-label="Time range">
          <div class="presets">
            {PRESETS.map(([value, name]) => (
              <Button key={value} onClick={() => set(value, '')}>
                {name}
              </Button>
            ))}
          </div>
          {(
            [
              ['since', 'From', from, '02:10, or 2h'],
              ['until', 'To', to, '02:15, or 15m'],
            ] as const
          ).map(([name, label, input, example]) => (
            <label key={name}>
              {label}
              <input
                ref={input}
                defaultValue={shownMoment(look[name], clock)}
                placeholder={`2026-01-31 ${example}`}
                {...field(name)}
              />
            </label>
          ))}
          <Button class="primary" onClick={apply}>
            Apply
          </Button>
          <label class="go">
            Go to a time, without narrowing
            <span class="field">
              <input ref={go} placeholder="02:10:30" {...field('go')} />
              <Button onClick={goThere}>Go</Button>
            </span>
          </label>
          <p
            id="range-hint"
            class={wrong === null ? 'hint' : 'hint bad'}
            role={wrong === null ? undefined : 'alert'}
          >
            {wrong === null ? HINT : `That is not a time. ${HINT}`}
          </p>
        </div>
      )}
    </div>
  )
}

const HINT = 'Write 2026-01-31 02:10, 02:10 or 02:10:30 for a time, or 15m, 2h, 3d for how long ago.'
