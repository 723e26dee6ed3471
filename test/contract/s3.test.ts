import * as vitest from 'vitest'
import { all, codeOf } from '../../src/store/contract/assert.ts'
import { storeContract } from '../../src/store/contract.ts'
import { s3Store } from '../../src/store/s3.ts'
import { type S3Server, startS3Server } from '../support/s3-server.ts'

const { afterAll, beforeAll, describe, expect, it } = vitest

const keys = { accessKeyId: 'test-key', secretAccessKey: 'test-secret' }
let server: S3Server
beforeAll(async () => {
  server = await startS3Server(keys)
  server.pageSize = 100
})
afterAll(() => server.close())
const storeOf = (options: object) =>
  s3Store({ endpoint: server.endpoint, bucket: 'logs', ...keys, ...options })

storeContract(vitest, 'S3, with signatures,', async () => {
  server.objects.clear()
  return {
    store: storeOf({ prefix: 'home/logs' }),
    put: (key, bytes) => server.put(`home/logs/${key}`, bytes),
    remove: (key) => void server.objects.delete(`home/logs/${key}`),
    nowhere: storeOf({ bucket: 'nowhere' }),
  }
})

describe('S3, with signatures,', () => {
  it.each<[string, object]>([
    ['a wrong secret', { secretAccessKey: 'wrong' }],
    ['an unknown key', { accessKeyId: 'other' }],
    ['nobody at all', { accessKeyId: undefined, secretAccessKey: undefined }],
  ])('is denied to %s', async (_, credentials) => {
    server.put('x', 'secret text')
    const store = storeOf(credentials)
    expect(await codeOf(all(store.list()))).toBe('denied')
    expect(await codeOf(store.stat('x'))).toBe('denied')
    expect(await codeOf(store.read('x'))).toBe('denied')
  })
})
