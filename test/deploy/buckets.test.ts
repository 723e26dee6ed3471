import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { s3Store } from '../../src/store/s3.ts'
import { createApp } from '../support/app.ts'
import { type S3Server, startS3Server } from '../support/s3-server.ts'

const UUID = '0f8fad5b-d9cb-469f-a165-70867728950e'
const readme = readFileSync(join(import.meta.dirname, '../../deploy/README.md'), 'utf8')
const rows = [
  ...readme.matchAll(
    /^\| (\w[\w ]*) \| `([^`]+)` \| `npm start -- --join --logs s3:\/\/([^`]+)` → the log `([^`]+)` \|$/gm,
  ),
].map(([, ...cells]) => cells as [shipper: string, key: string, location: string, log: string])

let server: S3Server | undefined
afterEach(() => server?.close())

describe('the table of shippers in deploy/README.md', () => {
  it('has one line for each', () => {
    expect(rows.map(([shipper]) => shipper)).toEqual([
      'Vector',
      'Fluent Bit',
      'Firehose',
      'AWS load balancer',
      'Logstash',
    ])
  })

  it.each(rows)('%s: %s in s3://%s is the log %s', async (_, template, location, log) => {
    server = await startS3Server()
    const key = template.replace('<uuid>', UUID).replace('<stream>', 'stream').replace('…', 'AbCd1234')
    const line = '2026-11-15 10:05:30.000\tinfo\ta.go:1\t[A]: hello\n'
    server.put(key, line)
    const [bucket, ...prefix] = location.split('/')
    const logs = s3Store({ bucket: bucket!, endpoint: server.endpoint, prefix: prefix.join('/') })
    const app = createApp({ logs, config: '', join: true })
    expect(await (await app.request('/api/v1/log/list')).json()).toEqual([{ name: log, size: line.length }])
    expect(await (await app.request(`/api/v1/log/view?file=${log}`)).text()).toBe(line)
    const late = await app.request(`/api/v1/log/view?file=${log}&since=2026-11-15T10:05:00Z`)
    expect(await late.text()).toBe(line)
  })
})
