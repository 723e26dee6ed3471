import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs'

const START = Date.UTC(2026, 0, 10)

/** A moment as the log writes it. */
export function stamp(ms: number): string {
  return new Date(ms).toISOString().replace('T', ' ').replace('Z', '')
}

/** Line `i` of a quiet log: one a second, in the format of the node's document. */
export function line(i: number, level = 'INFO', message = `record number ${i} written`): string {
  return `${stamp(START + i * 1000)}\t${level}\tpkg/engine/family.go:${100 + (i % 80)}\t[Storage] [Engine]: ${message}\t{"shard":${i % 16},"cost":"${i % 50}ms"}\n`
}

export const STACK =
  'goroutine 88 [running]:\nruntime/debug.Stack()\n\t/usr/local/go/src/runtime/debug/stack.go:24 +0x64\n'

/** A log of this many records: every 50th a warning, and an error with its stack at each of `errors`. */
export function writeLog(path: string, records: number, errors: readonly number[] = []): void {
  const bad = new Set(errors)
  const file = openSync(path, 'w')
  let text = ''
  for (let i = 0; i < records; i++) {
    if (bad.has(i)) text += line(i, 'ERROR', `write failed at ${i}: disk quota exceeded`) + STACK
    else text += line(i, i % 50 === 49 ? 'WARN' : 'INFO')
    if (text.length > 4_000_000) {
      writeSync(file, text)
      text = ''
    }
  }
  writeSync(file, text)
  closeSync(file)
}

/**
 * A log of `size` bytes or a little more, written as fast as the disk takes it: one block of an hour, its dates
 * moved on in place. At four fifths of it stands what led to the errors of that hour.
 */
export function writeHugeLog(path: string, size: number): { records: number; cause: string } {
  const hour = 3_600_000
  const perBlock = 28_000
  const build = (bad: boolean) => {
    const lines: string[] = []
    for (let i = 0; i < perBlock; i++) {
      const at = START + Math.floor((i / perBlock) * hour)
      const rest =
        'pkg/engine/family.go:188\t[Storage] [Engine]: flush of the memory database is done\t{"shard":3}'
      let level = 'INFO'
      let said = rest
      if (bad && i === 14_000) {
        level = 'WARN'
        said = 'pkg/quota/watch.go:41\t[Quota]: volume /data is full, writes will be refused\t{"used":"100%"}'
      } else if (bad && i > 14_000 && i < 14_400) {
        level = 'ERROR'
        said = `pkg/wal/log.go:77\t[Storage] [Wal]: append failed: no space left on device\t{"try":${i}}`
      }
      lines.push(`${stamp(at)}\t${level}\t${said}\n`)
    }
    const bytes = Buffer.from(lines.join(''))
    const starts: number[] = []
    let offset = 0
    for (const each of lines) {
      starts.push(offset)
      offset += Buffer.byteLength(each)
    }
    return { bytes, starts }
  }
  const [quiet, loud] = [build(false), build(true)]
  const file = openSync(path, 'w')
  const blocks = Math.ceil(size / quiet.bytes.length)
  for (let block = 0; block < blocks; block++) {
    const { bytes, starts } = block === Math.floor(blocks * 0.8) ? loud : quiet
    const head = Buffer.from(stamp(START + block * hour).slice(0, 13))
    for (const start of starts) head.copy(bytes, start)
    writeSync(file, bytes)
  }
  closeSync(file)
  return { records: blocks * perBlock, cause: 'volume /data is full, writes will be refused' }
}

/** A small file with all that real and hostile logs hold. */
export function writeOddLog(path: string): void {
  const esc = '\u001b'
  writeFileSync(
    path,
    [
      line(1, 'DEBUG', 'a debug line'),
      line(2, 'INFO', `${esc}[32mgreen words${esc}[0m and ${esc}]0;title\u0007${esc}[2Jplain`),
      line(3, 'WARN', '<img src=x onerror="alert(1)"><script>alert(2)</script>'),
      line(4, 'ERROR', 'it broke') + STACK,
      line(5, 'FATAL', `long ${'x'.repeat(200_000)} end of the long one`),
      'no time and no level here <b onmouseover=alert(3)>bold</b>\n',
      `${stamp(START + 6000)}\tINFO\tx.go:1\t[A]: with <svg onload=alert(4)>\t{"html":"<img src=x onerror=alert(5)>","deep":{"n":[1,true,null]}}\n`,
    ].join(''),
  )
}

/** When the night begins. */
export const NIGHT = Date.UTC(2026, 0, 10)

/** A night of records, one a second; what `said` returns for a second stands in its place. */
export function night(said: (second: number) => [level: string, message: string] | null): string {
  let text = ''
  for (let i = 0; i < 15_000; i++) {
    const [level, message] = said(i) ?? ['INFO', `heartbeat ${i}`]
    text += `${stamp(NIGHT + i * 1000)}\t${level}\tpkg/a.go:${i % 90}\t[Node]: ${message}\n`
  }
  return text
}
