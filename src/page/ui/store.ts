import { useEffect, useState } from 'preact/hooks'

/** A setting of this reader, kept in the browser where it lets us. */
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

/** The token, kept only as long as the tab lives. */
export const token = {
  get(): string | null {
    try {
      return sessionStorage.getItem('nodestate.token') ?? token.held
    } catch {
      return token.held
    }
  },
  set(value: string | null): void {
    token.held = value
    try {
      if (value === null) sessionStorage.removeItem('nodestate.token')
      else sessionStorage.setItem('nodestate.token', value)
    } catch {
      // Storage is off: the memory of this page holds it.
    }
  },
  held: null as string | null,
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
