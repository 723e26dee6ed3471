import { useEffect, useRef, useState } from 'preact/hooks'
import { ProblemError } from '../../client.ts'
import { token } from './token.ts'

/** Whether the node asks for a token, and what to do about a 401. */
export function useSession() {
  const [asked, setAsked] = useState<'no' | 'yes' | 'refused'>('no')
  const [session, setSession] = useState(0)
  const asking = useRef(false)
  const begin = () => {
    setAsked('no')
    setSession((count) => count + 1)
  }
  useEffect(
    () =>
      token.join(location.pathname, (value) => {
        if (value === null) setAsked('yes')
        else if (!asking.current) begin()
      }),
    [],
  )
  /** A 401 anywhere brings up the sign-in, unless another tab has the token; true when it was one. */
  const refused = (error: unknown): boolean => {
    if (!(error instanceof ProblemError) || error.status !== 401) return false
    // Several requests are refused at once: the first one handles it.
    if (asking.current) return true
    asking.current = true
    const wrong = token.get()
    token.drop()
    void (wrong === null ? token.ask() : Promise.resolve()).then(() => {
      asking.current = false
      if (token.get() !== null) begin()
      else setAsked((before) => (wrong !== null || before === 'refused' ? 'refused' : 'yes'))
    })
    return true
  }
  const enter = (value: string) => {
    token.set(value)
    begin()
  }
  const leave = () => {
    token.set(null)
    setAsked('yes')
  }
  return { asked, session, refused, enter, leave, retry: begin }
}
