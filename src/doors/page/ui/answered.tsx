import type { ComponentChildren } from 'preact'
import { Failure } from './failure.tsx'
import { useSlow } from './store.ts'
import type { useLoaded } from './use-loaded.ts'

interface Props<T> {
  asked: ReturnType<typeof useLoaded<T>>
  /** Said while the answer takes longer than a moment. */
  reading: string
  /** One line about the answer. */
  said: (data: T) => ComponentChildren
  /** Whether a failure is shown; not where another part of the page says the same. @default true */
  failing?: boolean
  children?: (data: T) => ComponentChildren
}

/** What a panel asked for: why there is no answer, that it takes a while, or the answer itself. */
export function Answered<T>({ asked, reading, said, failing = true, children }: Props<T>) {
  const { data, error, busy, retry } = asked
  const slow = useSlow(busy)
  return (
    <>
      {error !== null && failing && <Failure error={error} remedies={{ retry }} />}
      <p class="hint" role="status">
        {slow ? reading : error === null && data !== null && said(data)}
      </p>
      {error === null && data !== null && children?.(data)}
    </>
  )
}
