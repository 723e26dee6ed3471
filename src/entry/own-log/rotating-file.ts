import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'

export interface RotatingFileOptions {
  /** @default 4 MiB */
  maxBytes?: number
  /** Milliseconds between two looks at whether the file is still the one at its path. @default 1000 */
  checkMs?: number
  /** Permissions of a file that is made, before the umask. @default 0o666 */
  mode?: number
  /** How many rotated files are kept, as `NAME.1` (the newest) to `NAME.4`. @default 4 */
  maxFiles?: number
  /** Called once when writing fails, and again only after it has worked in between. */
  onError?: (error: unknown) => void
}

export interface LineWriter {
  write(text: string): void
  close(): void
}

/** How often to check that the file is still the one at its path, and to retry a failed open. */
const CHECK_MS = 1000

/**
 * A file that is appended to and rotated by renaming. It never throws: a full disk must not fail a request.
 *
 * Not the rotating sink of @logtape/file: that one calls fsync for every line it shows at once (milliseconds of a
 * blocked event loop on a real disk), and when its file is deleted from outside, the rotation fails between close and
 * open, and later lines go to whatever has the descriptor's number by then.
 */
export function rotatingFile(path: string, options: RotatingFileOptions = {}): LineWriter {
  const {
    maxBytes = 4 * 1024 * 1024,
    maxFiles = 4,
    checkMs = CHECK_MS,
    mode = 0o666,
    onError = () => {},
  } = options
  let fd: number | null = null
  let inode = 0
  let size = 0
  let checked = Number.NEGATIVE_INFINITY
  let failing = false

  const open = () => {
    if (!existsSync(dirname(path))) mkdirSync(dirname(path), { recursive: true })
    fd = openSync(path, 'a', mode)
    const stats = fstatSync(fd)
    inode = stats.ino
    size = stats.size
  }
  const reopen = () => {
    const old = fd
    fd = null
    if (old !== null) closeSync(old)
    open()
  }
  /** Another process may have rotated or deleted the file: then the name is free or belongs to another file. */
  const isOurs = () => statSync(path, { throwIfNoEntry: false })?.ino === inode
  const rotate = () => {
    if (isOurs()) {
      for (let n = maxFiles - 1; n >= 1; n--) renameIfThere(`${path}.${n}`, `${path}.${n + 1}`)
      renameSync(path, `${path}.1`)
    }
    reopen()
  }

  return {
    write(text) {
      const now = performance.now()
      try {
        if (now - checked >= checkMs) {
          checked = now
          if (fd === null || !isOurs()) reopen()
          else size = fstatSync(fd).size
        }
        if (fd === null) return
        const bytes = Buffer.from(text)
        if (size > 0 && size + bytes.length > maxBytes) rotate()
        for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at)
        size += bytes.length
        failing = false
      } catch (error) {
        if (!failing) onError(error)
        failing = true
      }
    },
    close() {
      if (fd !== null) closeSync(fd)
      fd = null
      checked = Number.POSITIVE_INFINITY
    },
  }
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
