import { randomUUID } from 'node:crypto'
import { link, mkdir, readdir, readFile, rename, stat, unlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Bucket, UnusableBucket } from '../../ship/bucket.ts'

/** A directory in place of a bucket, such as a mounted one. A file appears whole or not at all. */
export function directoryBucket(root: string): Bucket & { check(): Promise<void> } {
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
    async get(key) {
      try {
        const text = await readFile(join(root, key), 'utf8')
        return { text, age: Date.now() - (await stat(join(root, key))).mtimeMs }
      } catch (error) {
        if (absent(error)) return null
        throw error
      }
    },
    async put(key, bytes, { once = false } = {}) {
      const path = join(root, key)
      const whole = join(dirname(path), `.${randomUUID()}`)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(whole, bytes)
      if (!once) {
        await rename(whole, path)
        return true
      }
      try {
        await link(whole, path)
        return true
      } catch (error) {
        if ((error as { code?: unknown }).code === 'EEXIST') return false
        throw error
      } finally {
        await unlink(whole)
      }
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
