import { randomUUID } from 'node:crypto'
import { link, mkdir, open, readdir, rename, rm, stat, unlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Bucket, UnusableBucket } from '../../ship/bucket.ts'
import type { Compactor } from '../../ship/compact.ts'

/** A directory in place of a bucket, such as a mounted one. A file appears whole or not at all. */
export function directoryBucket(root: string): Bucket & Compactor & { check(): Promise<void> } {
  const absent = (error: unknown) => (error as { code?: unknown }).code === 'ENOENT'
  return {
    async names(folder, limit = Number.POSITIVE_INFINITY) {
      const entries = await readdir(join(root, folder), { withFileTypes: true }).catch((error) => {
        if (absent(error)) return []
        throw error
      })
      const names = entries.map((entry) => entry.name + (entry.isDirectory() ? '/' : ''))
      return names
        .filter((name) => !name.startsWith('.'))
        .sort()
        .slice(0, limit)
    },
    async get(key, most = Number.POSITIVE_INFINITY) {
      const file = await open(join(root, key)).catch((error) => {
        if (absent(error)) return null
        throw error
      })
      if (!file) return null
      try {
        const stats = await file.stat()
        const bytes = new Uint8Array(Math.min(stats.size, most))
        await file.read(bytes, 0, bytes.length, 0)
        return { bytes, etag: etagOf(stats), age: Date.now() - stats.mtimeMs }
      } finally {
        await file.close()
      }
    },
    // One host writes here, and a write ends with its process: between the comparison and the rename nothing comes late.
    async put(key, bytes, { once = false, ifMatch } = {}) {
      const path = join(root, key)
      const whole = join(dirname(path), `.${randomUUID()}`)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(whole, bytes)
      const etag = etagOf(await stat(whole))
      try {
        if (once) await link(whole, path)
        else if (ifMatch !== undefined && etagOf(await stat(path)) !== ifMatch) return false
        else await rename(whole, path)
        return etag
      } catch (error) {
        if ((error as { code?: unknown }).code === 'EEXIST' || (ifMatch !== undefined && absent(error)))
          return false
        throw error
      } finally {
        await unlink(whole).catch(() => {})
      }
    },
    async remove(key) {
      await rm(join(root, key), { force: true })
    },
    async check() {
      try {
        await mkdir(root, { recursive: true })
      } catch (cause) {
        throw new UnusableBucket(`Cannot write to the directory ${JSON.stringify(root)}`, { cause })
      }
    },
  }
}

function etagOf({ ino, mtimeMs }: { ino: number; mtimeMs: number }): string {
  return `"${ino}-${mtimeMs}"`
}
