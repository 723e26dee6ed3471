import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

/** A log in a folder of its own. */
export class RotatedLog {
  readonly folder = mkdtempSync(join(tmpdir(), 'nodestate-rotations-'))
  rotations = 0

  path(name: string): string {
    return join(this.folder, name)
  }

  has(name: string): boolean {
    return existsSync(this.path(name))
  }

  rename(from: string, to: string): void {
    renameSync(this.path(from), this.path(to))
  }

  compress(name: string): void {
    writeFileSync(this.path(`${name}.gz`), gzipSync(readFileSync(this.path(name))))
  }
}

/** A way of rotating. A test may do something else at each `yield`. */
export type Rotation = (log: RotatedLog) => Generator<void, void>

/** Makes room for `.1`, as logrotate does. */
function* shifted(log: RotatedLog) {
  for (let i = 30; i >= 1; i--)
    for (const end of ['', '.gz'])
      if (log.has(`a.log.${i}${end}`)) {
        log.rename(`a.log.${i}${end}`, `a.log.${i + 1}${end}`)
        yield
      }
}

function* renamed(log: RotatedLog) {
  yield* shifted(log)
  log.rename('a.log', 'a.log.1')
  yield
  writeFileSync(log.path('a.log'), '')
}

/** Ways of rotating, step by step. */
export const ROTATIONS = {
  rename: renamed,
  *'rename, create later'(log) {
    yield* shifted(log)
    log.rename('a.log', 'a.log.1')
  },
  *'copy and truncate'(log) {
    yield* shifted(log)
    copyFileSync(log.path('a.log'), log.path('a.log.1'))
    // Lines between the copy and the truncation are lost by this way of rotating, so nothing is written there.
    yield
    truncateSync(log.path('a.log'))
  },
  *'rename and compress'(log) {
    yield* renamed(log)
    yield
    log.compress('a.log.1')
    yield
    unlinkSync(log.path('a.log.1'))
  },
  *'compress the one before'(log) {
    yield* renamed(log)
    if (!log.has('a.log.2')) return
    yield
    log.compress('a.log.2')
    yield
    unlinkSync(log.path('a.log.2'))
  },
  *'dated names'(log) {
    log.rename('a.log', `a.log-202611150${log.rotations++}0000`)
    yield
    writeFileSync(log.path('a.log'), '')
  },
  *'rising numbers'(log) {
    let i = 1
    while (log.has(`a-${i}.log`)) i++
    if (i > 5) {
      unlinkSync(log.path('a-1.log'))
      yield
      for (i = 1; i < 5; i++) {
        log.rename(`a-${i + 1}.log`, `a-${i}.log`)
        yield
      }
    }
    log.rename('a.log', `a-${i}.log`)
    yield
    writeFileSync(log.path('a.log'), '')
  },
} satisfies Record<string, Rotation>

/** Rotates in one go. */
export function rotate(log: RotatedLog, rotation: Rotation): void {
  for (const _ of rotation(log));
}
