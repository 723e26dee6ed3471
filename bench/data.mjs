import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  fstatSync,
  fsyncSync,
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
/** How much text the archive holds. */
export const ARCHIVED = 256 * MIB
export const GIB = 1024 * MIB
/** In one line of 5,000, and in one of 10. */
export const RARE = 'shard 4711 lost its leader'
export const COMMON = 'slow compaction'

/**
 * The directories that are measured, in a separate place: `logs` with a log of 1 GiB, one of 1 MiB and one of
 * 20 GiB that is empty in the middle, `ten` files, `many` files, `archive` with 256 MiB of log in a .gz.
 */
export function makeData() {
  const root = mkdtempSync(join(tmpdir(), 'nodestate-bench-'))
  // nginx, started by root, reads as another user.
  chmodSync(root, 0o755)
  const at = (name) => join(root, name)
  for (const name of ['logs', 'ten', 'many', 'live', 'archive']) mkdirSync(at(name))
  writeLog(at('logs/big.log'), GIB)
  writeLog(at('logs/small.log'), MIB)
  writeSparse(at('logs/huge.log'), 20 * GIB)
  for (let i = 0; i < 10; i++) writeFileSync(at(`ten/broker-${i}.log`), 'x'.repeat(100 + i))
  for (let i = 0; i < 10_000; i++)
    writeFileSync(at(`many/broker-${String(i).padStart(5, '0')}.log`), 'x'.repeat(i % 50))
  settle(openSync(at('many')))
  writeLog(at('archived.log'), ARCHIVED)
  execFileSync('sh', ['-c', 'gzip -6 < "$1" > "$2"', 'sh', at('archived.log'), at('archive/big.log.gz')])
  return {
    root,
    logs: at('logs'),
    ten: at('ten'),
    many: at('many'),
    live: at('live'),
    archive: at('archive'),
  }
}

/** Lines of a minute: one each 6 ms. All minutes are alike but for their time, else a gigabyte would take 20 s. */
const PER_MINUTE = 10_000
const MINUTE = 60_000
const minute = makeMinute()

/** A minute of the log format, lines of 145 bytes or so, and where each begins. */
function makeMinute() {
  const lines = Array.from({ length: PER_MINUTE }, (_, i) => {
    const time = new Date(i * 6).toISOString()
    const what =
      i % 5000 === 17
        ? RARE
        : i % 10 === 3
          ? `${COMMON} of family ${i % 23}`
          : `request ${3_000_000 + i} handled by worker ${i % 61}`
    return `${time.slice(0, 10)} ${time.slice(11, 23)}\t${i % 50 === 7 ? 'WARN' : 'INFO'}\tquery/executor.go:${i % 900}\t[Broker] [Query]: ${what}\t{"ms":${i % 997},"node":"10.0.${i % 7}.${i % 250}","ok":true}\n`
  })
  const starts = []
  let at = 0
  for (const line of lines) {
    starts.push(at)
    at += line.length
  }
  return { bytes: Buffer.from(lines.join('')), starts }
}

let clock = Date.UTC(2026, 0, 1)

/** The next minute; its bytes are the same memory each time. */
function nextMinute() {
  const time = Buffer.from(new Date(clock).toISOString().slice(0, 16).replace('T', ' '))
  clock += MINUTE
  for (const start of minute.starts) minute.bytes.set(time, start)
  return minute.bytes
}

/** Whole lines up to this size, and not a byte more: a search looks through 1 GiB at most. */
function writeLog(path, size) {
  const fd = openSync(path, 'w')
  for (let left = size; left > 0; ) {
    const bytes = nextMinute()
    const end = bytes.length <= left ? bytes.length : bytes.lastIndexOf(10, left - 1) + 1
    writeSync(fd, bytes, 0, end)
    left = end < bytes.length ? 0 : left - end
  }
  settle(fd)
}

/** Lines at both ends, and a hole between them that takes no space. */
function writeSparse(path, size) {
  const fd = openSync(path, 'w')
  const { length } = minute.bytes
  for (let i = 0; i < 6; i++) writeSync(fd, nextMinute(), 0, length, i * length)
  for (let i = 6; i > 0; i--) writeSync(fd, nextMinute(), 0, length, size - i * length)
  settle(fd)
}

/** To disk, now; otherwise the kernel does it while the first rows are measured. */
function settle(fd) {
  fsyncSync(fd)
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
