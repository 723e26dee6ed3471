import { gunzipSync, gzipSync } from 'fflate'
import type { Random } from '../kernel/random.ts'
import { type Log, numbered } from '../logs.ts'
import { onDisk } from '../reference.ts'
import type { World } from '../world.ts'
import type { Actor } from './actor.ts'
import { append, openLog } from './append.ts'

/** What rotates the files of a log: one for each log that is rotated. */
export const rotator: Actor = {
  changes: true,
  plan({ random, settings, add, moment }) {
    for (const { name, rotation } of settings.logs) {
      if (rotation === 'none') continue
      const own = random.split(name)
      for (let count = own.small(0, 8); count > 0; count--) add(name, 'rotate', moment(own))
      const age = random.split(`${name} age`)
      for (let count = age.chance(0.2) ? age.small(1, 3) : 0; count > 0; count--)
        add(name, 'delete', moment(age))
      const over = random.split(`${name} over`)
      if (over.chance(0.1)) add(name, 'replace', moment(over))
    }
  },
  async act(world, step) {
    const log = world.logOf(step)
    if (world.disk.bytesOf(log.name) === null) return
    while (hasOnlyHeader(world, log) && isYoung(world, log)) await world.kernel.sleep(100)
    if (world.disk.bytesOf(log.name) === null) return
    // Nothing could tell the new file from the old one.
    if (step.does === 'replace' && hasOnlyHeader(world, log)) return
    const random = world.randomOf(step)
    const span = { from: world.kernel.elapsed(), to: Number.POSITIVE_INFINITY }
    log.rotations.push(span)
    if (step.does === 'delete') deleteOldest(world, log)
    else if (step.does === 'replace') await replace(world, log)
    else if (log.settings.rotation === 'tai64n') await rotateByTime(world, log, random)
    else if (log.settings.rotation === 'dated') await rotateByDate(world, log, random)
    else if (log.settings.rising) await rotateUp(world, log, random)
    else await rotateByNumber(world, log, random)
    span.to = world.kernel.elapsed()
  },
}

/** How old a file with a header alone is before it is rotated: a younger one looks like a copy of the next one. */
const COPY_MS = 2_000

function isYoung({ disk, kernel }: World, { name }: Log): boolean {
  const file = disk.inodeOf(name)
  return file !== null && kernel.now() < file.modified + COPY_MS
}

function hasOnlyHeader({ disk }: World, { name, settings: { header } }: Log): boolean {
  const file = disk.inodeOf(name)
  return header !== undefined && file !== null && file.size <= header.length + 2
}

/** logrotate's way: every file moves up by one; the last one goes. */
async function rotateByNumber(world: World, log: Log, random: Random): Promise<void> {
  const { disk, kernel } = world
  const { keep, compress, rotation } = log.settings
  for (const { name, number, isPacked } of numbered(disk.all, log.name)) {
    if (number >= keep) remove(world, log, name)
    else disk.rename(name, `${log.name}.${number + 1}${isPacked ? '.gz' : ''}`)
    if (random.chance(0.2)) await kernel.sleep(random.small(0, 20))
  }
  const first = `${log.name}.1`
  if (rotation === 'copytruncate') await copyAndTruncate(world, log, first, random)
  else {
    await move(world, log.name, first, random)
    await reopen(world, log, random)
  }
  if (compress === 'at-once') await pack(world, log, first, random)
  if (compress === 'later' && disk.bytesOf(`${log.name}.2`)) await pack(world, log, `${log.name}.2`, random)
}

/** Log4j's way: the next file has the next number, and no file moves. */
async function rotateUp(world: World, log: Log, random: Random): Promise<void> {
  const { disk } = world
  const { keep, compress, rotation } = log.settings
  const rotated = numbered(disk.all, log.name)
  const to = `${log.name}.${(rotated[0]?.number ?? 0) + 1}`
  if (rotation === 'copytruncate') await copyAndTruncate(world, log, to, random)
  else {
    await move(world, log.name, to, random)
    await reopen(world, log, random)
  }
  if (compress === 'at-once') await pack(world, log, to, random)
  const [before] = rotated
  if (compress === 'later' && before && !before.isPacked) await pack(world, log, before.name, random)
  for (const { name } of numbered(disk.all, log.name).slice(keep)) remove(world, log, name)
}

/** The oldest file is deleted by its age. */
function deleteOldest(world: World, log: Log): void {
  const [oldest] = onDisk(world.disk, log).names()
  if (oldest !== undefined && oldest !== log.name) remove(world, log, oldest)
}

/** An empty file takes the name of the log: what was in the old one is lost. */
async function replace(world: World, log: Log): Promise<void> {
  const { disk } = world
  while (log.isMidLine) await world.kernel.sleep(1)
  for (const record of log.recordsIn(new TextDecoder().decode(disk.bytesOf(log.name)!))) record.lost = true
  log.handle?.close()
  const fresh = `.${log.name}.new`
  log.handle = openLog(world, log, fresh)
  disk.rename(fresh, log.name)
  world.note(`${fresh} → ${log.name}`)
}

/** `broker.log-1794708600`, with the second of the rotation. */
async function rotateByDate(world: World, log: Log, random: Random): Promise<void> {
  const { disk } = world
  const { name } = log
  const to = `${name}-${Math.floor(world.kernel.now() / 1000)}`
  if (disk.all.some((other) => other.startsWith(to))) return
  await move(world, name, to, random)
  await reopen(world, log, random)
  if (log.settings.compress === 'at-once') await pack(world, log, to, random)
  removeOldest(world, log)
}

/** multilog's way: it writes the log itself, so the new file is there at once, but for a line that is being written. */
async function rotateByTime(world: World, log: Log, random: Random): Promise<void> {
  const { disk, kernel } = world
  const isTaken = () => disk.bytesOf(tai64n(kernel.now())) !== null
  while (log.isMidLine || isTaken()) await kernel.sleep(1)
  await move(world, log.name, tai64n(kernel.now()), random)
  while (log.isMidLine) await kernel.sleep(1)
  log.handle?.close()
  log.handle = openLog(world, log, log.name)
  removeOldest(world, log)
}

/** Those beyond the number that is kept. */
function removeOldest(world: World, log: Log): void {
  const rotated = onDisk(world.disk, log)
    .names()
    .filter((name) => name !== log.name)
  for (const name of rotated.slice(0, -log.settings.keep)) remove(world, log, name)
}

/** multilog's name of a file that it has finished: seconds and nanoseconds in hexadecimal, ten seconds ahead of UTC. */
function tai64n(now: number): string {
  const hex = (number: number) => number.toString(16).padStart(8, '0')
  return `@40000000${hex(Math.floor(now / 1000) + 10)}${hex(Math.floor((now % 1000) * 1e6))}.s`
}

/** The file gets its new name. With multilog's way, it has both for a moment. */
async function move(world: World, from: string, to: string, random: Random): Promise<void> {
  const { disk, kernel } = world
  const link = random.split('link')
  if (link.chance(0.2)) {
    disk.link(from, to)
    await kernel.sleep(link.small(0, 100))
    disk.unlink(from)
  } else disk.rename(from, to)
  world.note(`${from} → ${to}`)
}

/** The writer goes on in the renamed file until it opens the new one, after its last line is written. */
async function reopen(world: World, log: Log, random: Random): Promise<void> {
  await world.kernel.sleep(random.small(0, 300))
  while (log.isMidLine) await world.kernel.sleep(1)
  log.handle?.close()
  log.handle = null
  if (random.chance(0.7)) log.handle = openLog(world, log, log.name)
}

/** What is written between the copy and the truncation is lost, as with logrotate. */
async function copyAndTruncate(world: World, log: Log, to: string, random: Random): Promise<void> {
  const { disk, kernel } = world
  const source = disk.openToWrite(log.name)
  const copy = disk.openToWrite(to)
  log.copy = copy.inode
  for (let at = 0; ; ) {
    const piece = source.read(at, random.between(1, 4_000))
    // Whole lines only: half a line in the copy would be a line that was never written.
    if (piece.length === 0 && !log.isMidLine) break
    await append(world, copy, piece)
    at += piece.length
    const isSlow = random.chance(0.3)
    if (isSlow || piece.length === 0) await kernel.sleep(0.1 + random.small(0, 20))
  }
  const copied = copy.inode.size
  await kernel.sleep(random.small(0, 30))
  log.isAwaited = true
  while (log.isMidLine) await kernel.sleep(1)
  log.isAwaited = false
  const late = new TextDecoder().decode(source.read(copied, source.inode.size))
  for (const record of log.recordsIn(late)) record.lost = true
  const writing = disk.openToWrite(log.name)
  writing.truncate(0)
  log.copy = null
  log.formed = null
  for (const handle of [source, copy, writing]) handle.close()
  world.note(
    `${log.name} copied to ${to} and truncated${late === '' ? '' : `; lost: ${late.length} characters`}`,
  )
}

/** gzip(1): the archive grows beside the file, which is removed when it is whole. */
async function pack(world: World, log: Log, name: string, random: Random): Promise<void> {
  const { disk, kernel } = world
  const bytes = disk.bytesOf(name)
  if (bytes === null || bytes.length === 0) return
  const packed = gzipSync(bytes, { level: 1, mtime: 0 })
  const { modified } = disk.inodeOf(name)!
  const archive = disk.openToWrite(`${name}.gz`)
  for (let at = 0; at < packed.length; ) {
    const length = random.between(1, packed.length - at)
    await append(world, archive, packed.subarray(at, at + length))
    at += length
    await kernel.sleep(random.small(0, 100))
  }
  archive.close()
  if (!log.settings.touched) disk.touch(`${name}.gz`, modified)
  disk.unlink(name)
  world.note(`${name} → ${name}.gz`)
}

function remove(world: World, log: Log, name: string): void {
  const bytes = world.disk.bytesOf(name)!
  const text = new TextDecoder().decode(name.endsWith('.gz') ? gunzipSync(bytes) : bytes)
  for (const record of log.recordsIn(text)) record.gone ??= world.kernel.elapsed()
  world.disk.unlink(name)
  world.note(`${name} removed`)
}
