import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import * as vitest from 'vitest'
import { storeContract } from '../../src/store/contract.ts'
import { fsStore } from '../../src/store/fs.ts'
import { memoryStore } from '../../src/store/memory.ts'

storeContract(
  vitest,
  'memory',
  async () => {
    const store = memoryStore()
    return { store, put: store.put, remove: store.delete }
  },
  { alwaysThere: 'memory is always there' },
)

storeContract(
  vitest,
  'fs, with folders,',
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'nodestate-contract-'))
    return {
      store: fsStore(directory, { nested: true }),
      put(key, bytes) {
        mkdirSync(dirname(join(directory, key)), { recursive: true })
        writeFileSync(join(directory, key), bytes)
      },
      remove: (key) => rmSync(join(directory, key)),
      nowhere: fsStore(join(directory, 'nowhere'), { nested: true }),
      close: () => rmSync(directory, { recursive: true }),
    }
  },
  {
    notKeys: {
      'back\\slash.log': 'a backslash separates folders on some systems, so such names are not shown',
    },
  },
)

storeContract(
  vitest,
  'fs',
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'nodestate-contract-'))
    return {
      store: fsStore(directory),
      put: (key, bytes) => writeFileSync(join(directory, key), bytes),
      remove: (key) => rmSync(join(directory, key)),
      nowhere: fsStore(join(directory, 'nowhere')),
      close: () => rmSync(directory, { recursive: true }),
    }
  },
  {
    flat: 'a log directory is flat: what lies in folders below it is not seen',
    notKeys: {
      'back\\slash.log': 'a backslash separates folders on some systems, so such names are not shown',
    },
  },
)
