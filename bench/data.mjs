import {
  chmodSync,
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MIB = 1024 * 1024
export const GIB = 1024 * MIB
/** In one line of 5,000, and in one of 10. */
export const RARE = 'shard 4711 lost its leader'
export const COMMON = 'slow compaction'

/**
 * The directories that are measured, in a place of their own: `logs` with a log of 1 GiB, one of 1 MiB and one of
 * 20 GiB that is empty in the middle, `ten` files, `many` files.
 */
export function makeData() {
  const root = mkdtempSync(join(tmpdir(), 'nodestate-bench-'))
  // nginx, started by root, reads as another user.
  chmodSync(root, 0o755)
  const at = (name) => join(root, name)
  for (const name of ['logs', 'ten', 'many', 'live']) mkdirSync(at(name))
  writeLog(at('logs/big.log'), GIB)
  writeLog(at('logs/small.log'), MIB)
  writeSparse(at('logs/huge.log'), 20 * GIB)
  for (let i = 0; i < 10; i++) writeFileSync(at(`ten/broker-${i}.log`), 'x'.repeat(100 + i))
  for (let i = 0; i < 10_000; i++)
    writeFileSync(at(`many/broker-${String(i).padStart(5, '0')}.log`), 'x'.repeat(i % 50))
  return { root, logs: at('logs'), ten: at('ten'), many: at('many'), live: at('live') }
}

let clock = Date.UTC(2026, 0, 1)
let count = 0

/** One line of the log format, 150 bytes or so. */
function line() {
  const i = count++
  clock += 7
  const time = new Date(clock).toISOString()
  const what =
    i % 5000 === 17
      ? RARE
      : i % 10 === 3
        ? `${COMMON} of family ${i % 23}`
        : `request ${i} handled by worker ${i % 61}`
  return `${time.slice(0, 10)} ${time.slice(11, 23)}\t${i % 50 === 7 ? 'WARN' : 'INFO'}\tquery/executor.go:${i % 900}\t[Broker] [Query]: ${what}\t{"ms":${i % 997},"node":"10.0.${i % 7}.${i % 250}","ok":true}\n`
}

function writeLog(path, size) {
  const fd = openSync(path, 'w')
  // Not a byte more: a search looks through 1 GiB at most.
  for (let written = 0; written < size - 200; ) {
    let text = ''
    while (text.length < 4 * MIB && written + text.length < size - 200) text += line()
    written += writeSync(fd, text)
  }
  closeSync(fd)
}

/** Lines at both ends, and a hole between them that takes no space. */
function writeSparse(path, size) {
  const fd = openSync(path, 'w')
  let text = ''
  while (text.length < 8 * MIB) text += line()
  writeSync(fd, text)
  writeSync(fd, text, size - text.length)
  ftruncateSync(fd, size)
  closeSync(fd)
}

/** The last bytes of a file, as they are. */
export function lastBytes(path, size) {
  const fd = openSync(path, 'r')
  const length = Math.min(size, fstatSync(fd).size)
  const bytes = Buffer.alloc(length)
  readSync(fd, bytes, 0, length, fstatSync(fd).size - length)
  closeSync(fd)
  return bytes
}

/** The tail that the contract asks for: from the first line start inside the last `size` bytes. */
export function alignedTail(path, size) {
  if (statSync(path).size <= size) return lastBytes(path, size)
  const bytes = lastBytes(path, size + 1)
  return bytes.subarray(bytes.indexOf(10) + 1)
}

/** The list that the contract asks for. */
export function expectedList(directory) {
  return readdirSync(directory)
    .sort()
    .map((name) => ({ name, size: statSync(join(directory, name)).size }))
}
