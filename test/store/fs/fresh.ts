import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { fsStore } from '../../../src/store/fs.ts'
import type { Store } from '../../../src/store/store.ts'

/** A temporary directory, the log directory in it, and its store: new for each test of a file that calls `useFresh`. */
export let root: string
export let directory: string
export let store: Store

/** Makes them before each test and removes them after it. */
export function useFresh(): void {
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'nodestate-fs-'))
    directory = join(root, 'logs')
    mkdirSync(directory)
    store = fsStore(directory)
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))
}
