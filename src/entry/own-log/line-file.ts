import { closeSync, fstatSync, openSync, statSync, writeSync } from 'node:fs'

export interface LineWriter {
  write(text: string): void
  close(): void
}

/**
 * A file that is appended to. Before each write it is opened again if another one is at its path: a rotator may have
 * renamed it, and may compress it at once. It never throws: a full disk must not fail a request. `onError` is called once
 * when writing fails, and again only after it has worked in between.
 */
export function lineFile(path: string, mode: number, onError: (error: unknown) => void): LineWriter {
  let fd: number | null = null
  let inode = 0
  let failing = false
  const close = () => {
    const old = fd
    fd = null
    if (old !== null) closeSync(old)
  }
  return {
    write(text) {
      try {
        if (fd === null || statSync(path, { throwIfNoEntry: false })?.ino !== inode) {
          close()
          fd = openSync(path, 'a', mode)
          inode = fstatSync(fd).ino
        }
        const bytes = Buffer.from(text)
        for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at)
        failing = false
      } catch (error) {
        if (!failing) onError(error)
        failing = true
      }
    },
    close,
  }
}
