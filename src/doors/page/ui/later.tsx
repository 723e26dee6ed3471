import { type ComponentType, h } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Failure } from './failure.tsx'

/** A component that is loaded when it is first shown, so that the page itself stays small. */
export function later<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | null = null
  return function Later(props: P) {
    const [part, setPart] = useState<ComponentType<P> | null>(() => loaded)
    const [error, setError] = useState<Error | null>(null)
    useEffect(() => {
      if (part !== null) return
      load().then((found) => {
        loaded = found
        setPart(() => found)
        // The node was updated meanwhile, and this page with it.
      }, setError)
    }, [])
    if (error !== null) return <Failure error={error} />
    return part === null ? null : h(part, props)
  }
}
