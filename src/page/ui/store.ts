import { useEffect, useState } from 'preact/hooks'

/** A user setting, kept in the browser if it allows that. */
export function remembered(name: string, fallback: string): { get(): string; set(value: string): void } {
  let value = fallback
  try {
    value = localStorage.getItem(`nodestate.${name}`) ?? fallback
  } catch {
    // Storage is off: the choice lasts as long as the page.
  }
  return {
    get: () => value,
    set(next) {
      value = next
      try {
        localStorage.setItem(`nodestate.${name}`, next)
      } catch {
        // As above.
      }
    },
  }
}

/** Such a setting, and how to change it. */
export function useRemembered(setting: ReturnType<typeof remembered>) {
  const [value, setValue] = useState(setting.get)
  const set = (next: string) => {
    setting.set(next)
    setValue(next)
  }
  return [value, set] as const
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

/** A word to the next view in this tab, be it on the page of another node. */
export const hand = {
  leave(name: string, value = 'yes'): void {
    try {
      sessionStorage.setItem(`nodestate.${name}`, value)
    } catch {
      // Storage is off: the next page goes without it.
    }
  },
  take(name: string): string | null {
    try {
      const found = sessionStorage.getItem(`nodestate.${name}`)
      sessionStorage.removeItem(`nodestate.${name}`)
      return found
    } catch {
      return null
    }
  },
}
