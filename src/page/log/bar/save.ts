import type { Download } from '../../../client.ts'

interface Saving {
  name: string
  progress: (bytes: number, size: number | null) => void
}

/**
 * Fetches a file, with the token in a header like every other request, and hands it to the browser to keep. Returns what
 * is missing in it.
 */
export async function save(
  download: Promise<Download>,
  { name, progress }: Saving,
): Promise<Download['missing']> {
  const { body, size, missing } = await download
  // Blobs of 16 MB: the browser may move them to disk, while loose chunks would stay in memory.
  const blobs: Blob[] = []
  let chunks: Uint8Array<ArrayBuffer>[] = []
  let held = 0
  let done = 0
  const reader = body.getReader()
  while (true) {
    const { value, done: end } = await reader.read()
    if (end) break
    chunks.push(value as Uint8Array<ArrayBuffer>)
    held += value.length
    done += value.length
    if (held >= 16 * 1024 * 1024) {
      blobs.push(new Blob(chunks))
      chunks = []
      held = 0
    }
    progress(done, size)
  }
  const url = URL.createObjectURL(new Blob([...blobs, ...chunks], { type: 'application/octet-stream' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
  return missing
}
