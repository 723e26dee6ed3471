import { useRef, useState } from 'preact/hooks'
import type { Client } from '../../client.ts'
import { grown, inOrder, type ListedFile } from '../files/order.ts'
import { type Asking, useFresh } from './use-fresh.ts'

/** The node's logs: their names at once, their times as they come, new files within seconds. `chosen` is on the screen. */
export function useFiles(client: Client, chosen: string | null, asking: Asking) {
  const [files, setFiles] = useState<ListedFile[] | null>(null)
  /** Lists in a row without the log on the screen, which was in one before; a rotation may hide it from one. */
  const [misses, setMisses] = useState<{ file: string; lists: number } | null>(null)
  const watched = useRef(chosen)
  watched.current = chosen
  const known = useRef('')
  const detailed = useRef(0)
  const error = useFresh(async (signal) => {
    // The detailed list opens every file, so it is requested only when files came or went, and nothing waits for it.
    const details = async () => {
      detailed.current = Date.now()
      const found = await client.list({ signal, detail: true }).catch(() => null)
      if (found !== null && !signal.aborted) setFiles((before) => inOrder(found.entries, before))
    }
    const start = performance.now()
    const { entries: plain } = await client.list({ signal })
    const took = performance.now() - start
    const names = plain.map((file) => file.name).join('\n')
    const changed = names !== known.current
    const file = watched.current
    const before = known.current
    known.current = names
    if (file !== null)
      setMisses((last) => {
        if (plain.some(({ name }) => name === file)) return null
        if (last?.file === file) return { file, lists: last.lists + 1 }
        return before.split('\n').includes(file) ? { file, lists: 1 } : null
      })
    setFiles((before) => (changed ? inOrder(plain, before) : grown(before ?? [], plain)))
    if (changed || Date.now() - detailed.current > DETAILS) void details()
    // A directory is listed every two seconds; less often where that is slow, as in a distant bucket.
    return Math.min(SELDOM, Math.max(OFTEN, took * 40))
  }, asking)
  const gone = misses !== null && misses.file === chosen && misses.lists > 1
  return { files, error, gone }
}

const DETAILS = 120_000
const OFTEN = 2_000
const SELDOM = 10_000
