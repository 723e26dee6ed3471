import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startS3Server } from '../support/s3-server.ts'
import { CELLS, type Ground } from './cells.ts'
import { HOME, writeHome } from './fixture.ts'
import { conformance } from './suite.ts'

// The program on this Node, over a directory, a bucket and a peer. The other runtimes are in conformance.parts.test.ts.
const HERE = CELLS.filter(({ runtime }) => runtime === CELLS[0]!.runtime)

conformance(HERE, async (): Promise<Ground> => {
  const directory = mkdtempSync(join(tmpdir(), 'nodestate-conformance-'))
  writeHome(directory)
  const keys = { accessKeyId: 'test-key', secretAccessKey: 'test-secret' }
  const server = await startS3Server(keys)
  for (const [key, bytes] of Object.entries(HOME)) server.put(`nodes/db-4/${key}`, bytes)
  const env = {
    AWS_ENDPOINT_URL: server.endpoint,
    AWS_ACCESS_KEY_ID: keys.accessKeyId,
    AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
  }
  return {
    directory,
    bucket: { endpoint: server.endpoint, location: 's3://logs/nodes/db-4', env },
    worker: '',
    async stop() {
      await server.close()
      rmSync(directory, { recursive: true })
    },
  }
})
