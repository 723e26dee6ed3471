import { afterAll, beforeAll } from 'vitest'
import { type S3Server, startS3Server } from '../../support/s3-server.ts'
import { faultSuite } from '../faults.ts'

let server: S3Server
beforeAll(async () => {
  server = await startS3Server()
})
afterAll(() => server.close())

faultSuite('S3', async () => ({
  endpoint: server.endpoint,
  options: { bucket: 'logs', accessKeyId: 'key', secretAccessKey: 'secret' },
  put: server.put,
}))
