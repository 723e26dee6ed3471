import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import * as vitest from 'vitest'
import { serve } from '../../src/entry/node.ts'
import { storeContract } from '../../src/store/contract.ts'
import { fsStore } from '../../src/store/fs.ts'
import { peerStore } from '../../src/store/peer.ts'
import { createApp } from '../support/app.ts'

/** So patient that a busy machine is never taken for a dead peer. */
const PATIENT = { timeout: 20_000, deadline: 30_000, listDeadline: 60_000 }

storeContract(
  vitest,
  'a peer',
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'nodestate-contract-'))
    const app = createApp({
      logs: fsStore(directory, { nested: true }),
      config: '',
      token: 'secret',
    })
    const server = await serve(app, { port: 0 })
    const nowhere = await serve(
      createApp({ logs: fsStore(join(directory, 'no')), config: '', onError() {} }),
      {
        port: 0,
      },
    )
    return {
      store: peerStore({ url: server.url, token: 'secret', ...PATIENT }),
      put(key, bytes) {
        mkdirSync(dirname(join(directory, key)), { recursive: true })
        writeFileSync(join(directory, key), bytes)
      },
      remove: (key) => rmSync(join(directory, key)),
      nowhere: peerStore({ url: nowhere.url, ...PATIENT }),
      async close() {
        await server.close()
        await nowhere.close()
        rmSync(directory, { recursive: true })
      },
    }
  },
  {
    notKeys: {
      'back\\slash.log': 'a backslash separates folders on some systems, so such names are not shown',
    },
  },
)
