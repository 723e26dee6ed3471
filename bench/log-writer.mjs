// Writes a log at a steady rate and rotates it, in a separate process. Arguments: directory, MB/s, seconds, MB per file.
// Prints, 20 times a second, how many bytes it has written and when; at the end, the CRC-32 of all of them.
import { closeSync, existsSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'

const [directory, rate, seconds, fileBytes] = [process.argv[2], ...process.argv.slice(3).map(Number)]
const KEEP = 20
const STEP_MS = 50
const block = Math.round((rate * 1e6 * STEP_MS) / 1000)
const path = (number) => join(directory, number === 0 ? 'broker.log' : `broker.log.${number}`)

/** Lines that no compressor finds easy: numbers, addresses and ids differ from line to line. */
let seed = 1
const random = (most) => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return Math.floor((seed / 2 ** 32) * most)
}
const LEVELS = ['INFO', 'INFO', 'INFO', 'WARN', 'ERROR', 'DEBUG']
const WHAT = [
  'request handled',
  'shard flushed',
  'query planned',
  'write replicated',
  'memory database rotated',
]
const body = Buffer.from(
  Array.from(
    { length: (4 * block) / 150 },
    () =>
      `2026-11-14 02:${10 + random(50)}:${10 + random(50)}.${100 + random(900)}\t${LEVELS[random(6)]}\tquery/executor.go:${random(900)}\t[Broker] [Query]: ${WHAT[random(5)]} by worker ${random(64)}\t{"id":"${random(2 ** 32).toString(16)}","ms":${random(1000)},"from":"10.0.${random(256)}.${random(256)}:${random(65536)}"}\n`,
  ).join(''),
)

let file = openSync(path(0), 'a')
let inFile = 0
let written = 0
let crc = 0
const start = Date.now()
for (let step = 0; step * STEP_MS < seconds * 1000; step++) {
  const wait = start + step * STEP_MS - Date.now()
  if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
  const stamp = Buffer.from(
    `${new Date().toISOString().slice(0, 23).replace('T', ' ')}\tINFO\twriter.go:1\t[Writer] [Step]: step ${step}\n`,
  )
  const from = body.indexOf(10, random(body.length - block - 1000)) + 1
  const to = body.indexOf(10, from + block - stamp.length) + 1
  for (const bytes of [stamp, body.subarray(from, to)]) {
    writeSync(file, bytes)
    crc = crc32(bytes, crc)
    written += bytes.length
    inFile += bytes.length
  }
  console.log(`${Date.now()} ${written}`)
  if (inFile < fileBytes * 1e6) continue
  closeSync(file)
  rmSync(path(KEEP), { force: true })
  for (let number = KEEP - 1; number >= 0; number--)
    if (existsSync(path(number))) renameSync(path(number), path(number + 1))
  file = openSync(path(0), 'a')
  inFile = 0
}
console.log(`end ${crc}`)
