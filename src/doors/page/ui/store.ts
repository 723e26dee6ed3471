import { useEffect, useState } from 'preact/hooks'

/** What a storage of the browser answers; null where storage is off. */
function quietly<T>(work: () => T): T | null {
  try {
    return work()
  } catch {
    return null
  }
}

/** Settings of this page; those of storages that are off last as long as it does. */
const settings = new Map<string, string>()

/** A user setting, kept in the browser if it allows that, and how to change it. */
export function useRemembered(name: string, fallback: string) {
  const stored = () => settings.get(name) ?? quietly(() => localStorage.getItem(`nodestate.${name}`))
  const [value, setValue] = useState(() => stored() ?? fallback)
  const set = (next: string) => {
    settings.set(name, next)
    quietly(() => localStorage.setItem(`nodestate.${name}`, next))
    setValue(next)
  }
  // Another part of the page may have changed it.
  return [settings.get(name) ?? value, set] as const
}

/** True when `busy` has lasted for 300 ms: shorter waits show nothing. */
export function useSlow(busy: boolean): boolean {
  const [slow, setSlow] = useState(false)
  useEffect(() => {
    if (!busy) {
      setSlow(false)
      return
    }
    const timer = setTimeout(() => setSlow(true), 300)
    return () => clearTimeout(timer)
  }, [busy])
  return slow && busy
}

/** Values for the next view in this tab, even if it is on another node's page. */
export const hand = {
  leave: (name: string, value = 'yes') => quietly(() => sessionStorage.setItem(`nodestate.${name}`, value)),
  take(name: string): string | null {
    const found = quietly(() => sessionStorage.getItem(`nodestate.${name}`))
    quietly(() => sessionStorage.removeItem(`nodestate.${name}`))
    return found
  },
}
