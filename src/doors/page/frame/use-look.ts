import { useRef, useState } from 'preact/hooks'
import { useListener } from '../ui/listener.ts'
import { type Look, readLook, writeLook } from '../url.ts'

/** What the user looks at, kept in the address. */
export function useLook() {
  const [look, setLook] = useState<Look>(() => readLook(location.hash))
  /** Counts up when the address was changed by hand, or by the back button. */
  const [visit, setVisit] = useState(0)
  /** The moment that the log on the screen shows. */
  const moment = useRef<() => string>(() => '')
  const address = (next: Look) => writeLook(next) || location.pathname + location.search
  /** A step that the back button undoes. To be where one is already is no step: Enter in a field also blurs it. */
  const go = (next: Look) => {
    if (JSON.stringify(next) === JSON.stringify(look)) return
    if (writeLook(next) !== location.hash) history.pushState(null, '', address(next))
    setLook(next)
  }
  /** The same step, at another place. */
  const note = (next: Look) => {
    history.replaceState(null, '', address(next))
    setLook(next)
  }
  useListener(window, 'popstate', () => {
    setLook(readLook(location.hash))
    setVisit(visit + 1)
  })
  return { look, visit, moment, go, note }
}
