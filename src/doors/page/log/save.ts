import { useState } from 'preact/hooks'
import type { Download } from '../../client.ts'
import { explain } from '../ui/failure.tsx'

interface Saving {
  done: number
  size: number | null
  stop: () => void
}

/** One download at a time, with its progress and a way to stop it. */
export function useSaving(say: (message: string) => void) {
  const [saving, setSaving] = useState<Saving | null>(null)
  const start = async (
    name: string,
    ask: (signal: AbortSignal) => Promise<Download>,
    expected: number | null = null,
  ) => {
    if (saving !== null) return
    const abort = new AbortController()
    const stop = () => abort.abort()
    setSaving({ done: 0, size: expected, stop })
    try {
      const { body, size, missing } = await ask(abort.signal)
      keep(name, await blobOf(body, (done) => setSaving({ done, size, stop })))
      const absent = missing.map(({ name }) => name)
      say(absent.length === 0 ? 'Download complete' : `Download complete, without ${absent.join(', ')}`)
    } catch (error) {
      if (!abort.signal.aborted) say(`The download failed. ${explain(error as Error).advice}`)
    } finally {
      setSaving(null)
    }
  }
  return { saving, start }
}

async function blobOf(body: Download['body'], progress: (bytes: number) => void): Promise<Blob> {
  // Blobs of 16 MB: the browser may move them to disk, while loose chunks would stay in memory.
  const blobs: Blob[] = []
  let chunks: Uint8Array<ArrayBuffer>[] = []
  let held = 0
  let done = 0
  const reader = body.getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    chunks.push(next.value as Uint8Array<ArrayBuffer>)
    held += next.value.length
    done += next.value.length
    if (held >= 16 * 1024 * 1024) {
      blobs.push(new Blob(chunks))
      chunks = []
      held = 0
    }
    progress(done)
  }
  return new Blob([...blobs, ...chunks], { type: 'application/octet-stream' })
}

/** Hands a file to the browser; it was fetched with the token in a header, like every other answer. */
function keep(name: string, file: Blob): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
