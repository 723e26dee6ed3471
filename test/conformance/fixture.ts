import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { NODE } from '../support/node.ts'

const CONFIG = `# The broker of a cluster.
[coordinator]
endpoints = ["http://admin:hunter2@etcd-1:2379"]
password = "correct horse"   # was "battery staple"
[broker.http]
port = 3000
`

const LEVELS = ['DEBUG', 'INFO', 'WARN', 'ERROR']

/** Lines of the node state API's own format, a second apart; `hours` is how much earlier they begin. */
function lines(count: number, hours = 0): string {
  const start = Date.UTC(2026, 0, 2, 3 - hours, 4, 5)
  const line = (i: number) => {
    const time = new Date(start + i * 1000).toISOString().slice(0, 23).replace('T', ' ')
    const level = LEVELS[i % LEVELS.length]
    return `${time}\t${level}\tbroker/query.go:${i % 900}\t[Broker] [Query]: request ${i} took ${i % 97} ms\t{"shard":${i % 7}}\n`
  }
  return Array.from({ length: count }, (_, i) => line(i)).join('')
}

/** The home that every cell of the matrix serves, by key. */
export const HOME: Record<string, Uint8Array> = Object.fromEntries(
  Object.entries({
    'node.json': JSON.stringify(NODE),
    'config.toml': CONFIG,
    'logs/broker.log': lines(500),
    'logs/broker.log.1': lines(200, 1),
    'logs/broker.log.2.gz': gzipSync(lines(200, 2)),
    'logs/big.log': lines(40_000),
    'logs/archived.log.gz': gzipSync(lines(300)),
    'logs/empty.log': '',
    'logs/no-newline.log': 'first\nsecond\nunfinished',
    'logs/bytes.log': new Uint8Array([
      0x61, 0x00, 0xff, 0xfe, 0x0d, 0x0a, 0xc3, 0x28, 0x0a, 0xf0, 0x9f, 0x98, 0x80, 0x0a,
    ]),
    'logs/one-line.log': 'é'.repeat(150_000),
    'logs/with space+plus%41&amp;é😀.log': 'found\n',
    'logs/quote\'"<tag>;=?#.log': 'found, too\n',
  }).map(([key, value]) => [key, typeof value === 'string' ? new TextEncoder().encode(value) : value]),
)

/** Writes the home into a directory. */
export function writeHome(directory: string): void {
  mkdirSync(join(directory, 'logs'), { recursive: true })
  for (const [key, bytes] of Object.entries(HOME)) writeFileSync(join(directory, key), bytes)
}
