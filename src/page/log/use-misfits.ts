import { useEffect, useRef } from 'preact/hooks'
import { ProblemError } from '../../client.ts'
import { type Look, NOWHERE, titleOf } from '../url.ts'

interface Options {
  failure: Error | null
  look: Look
  /** Whether the filters were set in another log. */
  carried: boolean
  note: (look: Look) => void
  say: (message: string) => void
}

/** Drops filters that came from another log and that this one cannot answer, and says so. */
export function useMisfits({ failure, look, carried, note, say }: Options): void {
  const dropped = useRef<string[]>([])
  useEffect(() => {
    const code = failure instanceof ProblemError ? failure.code : ''
    if (!carried || (code !== 'no-level' && code !== 'no-time')) return
    dropped.current.push(code === 'no-level' ? 'levels' : 'times')
    note({ ...look, ...(code === 'no-level' ? { level: '' } : { since: '', until: '', ...NOWHERE }) })
    const [what, filters] =
      dropped.current.length > 1
        ? [`no ${dropped.current.join(' and no ')}`, 'the filters by them were']
        : [`no ${dropped.current[0]}`, code === 'no-level' ? 'the level was' : 'the time range was']
    say(`${titleOf(look)} has ${what}: ${filters} dropped`)
  }, [failure])
}
