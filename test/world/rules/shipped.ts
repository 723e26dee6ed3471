import type { Log, Written } from '../logs.ts'
import { onDisk, Reference } from '../reference.ts'
import { livesIn, type ShippedLife } from '../ship/lives.ts'
import { HOME, type Shipping, shippingOf } from '../ship/shipping.ts'
import type { World } from '../world.ts'
import type { Rule } from './rule.ts'

/** Milliseconds that a running shipper goes on before it is told to stop. */
const PATIENCE = 6_000

/** Rule 5: once all is calm, what was written is in the bucket, once; and `--verify` knows. */
export const shipped: Rule = {
  name: 'shipped equals written',
  async calm(world) {
    const shipping = shippingOf(world)
    if (shipping === null || shipping.runs.length === 0) return
    if (shipping.running.length === 0) shipping.start(shipping.host, false)
    await world.kernel.sleep(PATIENCE)
    const isKept = keptBy(world, shipping)
    for (const { shipper, ended } of shipping.running) {
      shipper.stop()
      await ended
    }
    const last = shipping.start(shipping.host, true)
    await last.ended
    if (last.outcome !== 'done') world.break(this.name, `shipping once is ${last.outcome}`)
    for (const log of world.logs) checkLog(world, log, isKept)
    const before = keysOf(world)
    await shipping.start(shipping.host, true).ended
    const added = keysOf(world).filter((key) => !before.includes(key))
    if (added.length > 0) world.break('nothing is shipped twice', `a start without news wrote ${added}`)
    checkConfig(world, shipping)
    if (!world.isDrawn('verify', () => true)) return
    await checkVerify(world, shipping, 'at rest')
    await checkDamage(world, shipping)
  },
}

function keysOf(world: World): string[] {
  return [...world.bucket.objects.keys()].filter(
    (key) => key.includes('/segments/') || key.includes('/ends/'),
  )
}

function checkLog(world: World, log: Log, isKept: (record: Written) => boolean): void {
  const lives = livesIn(world.bucket, HOME, log.name)
  const seen = new Map<number, number>()
  const copied = new Set<ShippedLife>()
  for (const life of lives) {
    const longer = lives.find((one) => !copied.has(one) && isShortCopy(log, life, one))
    if (longer) copied.add(longer)
    const fault = longer ? null : faultOf(log, life, seen)
    if (fault) world.break(fault.rule, `life ${life.number} of ${log.name} ${fault.what}`)
  }
  const missing = log.records.find(
    (record) => isKept(record) && record.lines.some(({ place }) => !seen.has(place)),
  )
  const all = lives.map(({ number, text }) => `life ${number} has ${text.length} characters`)
  if (missing) world.break('shipped equals written', `${log.name} lacks <${missing.id}>: ${all.join(', ')}`)
}

/** Every line of a life was written, stands behind the one that was written before it, and is in no other life. */
function faultOf(
  log: Log,
  { number, text, fault, hasHole, beginsLate }: ShippedLife,
  seen: Map<number, number>,
): { rule: string; what: string } | null {
  if (fault !== null) return { rule: 'segments are right', what: fault }
  if (hasHole || beginsLate) return { rule: 'segments are right', what: 'has a hole' }
  const pieces = text.split('\n')
  const rest = pieces.pop()!
  let before: number | null = null
  for (const piece of pieces) {
    if (log.isHeader(piece)) continue
    const line = log.lineOf(piece)
    if (!line) return { rule: 'only what was written is shipped', what: `has ${JSON.stringify(piece)}` }
    if (before !== null && line.place !== before + 1)
      return { rule: 'only what was written is shipped', what: `has ${piece} in a wrong place` }
    const other = seen.get(line.place)
    if (other !== undefined)
      return { rule: 'nothing is shipped twice', what: `has ${piece}, and so has life ${other}` }
    seen.set(line.place, number)
    before = line.place
  }
  // Half a line was shipped, and then its file was gone.
  const next = before === null ? undefined : log.lines[before + 1]
  const isGone = next === undefined || next.record.gone !== null || next.record.lost
  return rest === '' || isGone ? null : { rule: 'shipped equals written', what: `ends with ${rest}` }
}

/**
 * Whether a life is the copy of a longer one which was shipped before `copytruncate` lost its last lines: a file that is
 * whole lines, a proper beginning of that life, and all that follows there was lost. docs/shipping.md says so. Each life
 * has at most one such copy.
 */
function isShortCopy(log: Log, { text, ...life }: ShippedLife, longer: ShippedLife): boolean {
  if (life.fault !== null || life.hasHole || life.beginsLate) return false
  if (log.settings.rotation !== 'copytruncate' || !text.endsWith('\n')) return false
  if (longer.text.length <= text.length || !longer.text.startsWith(text)) return false
  const last = log.lineOf(text.slice(0, -1).split('\n').at(-1)!)
  const rest = longer.text.slice(text.length).replace(/\n$/, '').split('\n')
  const lost = last ? log.lines.slice(last.place + 1, last.place + 1 + rest.length) : []
  return lost.length > 0 && lost.every(({ record }) => record.lost)
}

/** Whether a record is on the disk, or was there for long enough while the last shipper ran. */
function keptBy(world: World, { runs, running }: Shipping): (record: Written) => boolean {
  const run = running.at(-1)
  // A shipper that waits for another host sees nothing.
  const isAlone = run !== undefined && runs.every(({ host }) => host === run.host)
  return ({ gone, lost, lines }) => {
    if (lost || gone === null) return !lost
    if (!isAlone || run.from > gone - 15_000 || world.troubledIn(run.from, Number.POSITIVE_INFINITY))
      return false
    const { written } = lines.at(-1)!
    return written !== null && written < gone - 5_000
  }
}

/** `--verify` against the plainest comparison: a file is in the bucket if a whole life has its text. */
async function checkVerify(world: World, shipping: Shipping, when: string): Promise<void> {
  /** Files with a header alone: their text is in the bucket as the beginning of other files, too. */
  const alike = new Set<string>()
  const expected = world.logs.flatMap((log) => {
    const lives = livesIn(world.bucket, HOME, log.name).filter(
      ({ hasHole, beginsLate, fault }) => !hasHole && !beginsLate && fault === null,
    )
    const texts = new Set(lives.map(({ text }) => text))
    const reference = new Reference(onDisk(world.disk, log))
    return reference.family().filter((name) => {
      const text = reference.textOf(name)
      if (log.isHeader(text.trimEnd())) alike.add(name)
      return text !== '' && !texts.has(text) && !alike.has(name)
    })
  })
  const found = await shipping.verify()
  const names = found.map(({ name }) => name).filter((name) => !alike.has(name))
  if (names.sort().join() !== expected.sort().join())
    world.break('--verify is right', `${when} it finds ${JSON.stringify(found)}, and not ${expected}`)
}

/** What begins at one place of a life is gone, or has another text, as its name says; and then it is there again. */
async function checkDamage(world: World, shipping: Shipping): Promise<void> {
  const { objects } = world.bucket
  const random = world.random.split('damage')
  const keys = [...objects.keys()].filter((key) => key.includes('/segments/') && key.endsWith('.gz'))
  if (keys.length === 0) return
  const [, start] = /^(.*\/\d{15})-/.exec(random.pick(keys))!
  const gone = [...objects].filter(([key]) => key.startsWith(`${start}-`))
  for (const [key] of gone) objects.delete(key)
  await checkVerify(world, shipping, `without ${start}`)
  const [key, object] = random.pick(gone)
  const forged = key.replace(/[\da-f](?=\.log\.gz$)/, (digit) => (digit === '0' ? '1' : '0'))
  objects.set(forged, object)
  await checkVerify(world, shipping, `with ${forged}`)
  objects.delete(forged)
  for (const [key, object] of gone) objects.set(key, object)
}

function checkConfig(world: World, { config }: Shipping): void {
  const text = (key: string) => {
    const object = world.bucket.objects.get(`${HOME}/${key}`)
    return object ? new TextDecoder().decode(object.bytes) : null
  }
  if (text('config.toml') !== config)
    world.break('the configuration is shipped', `${text('config.toml')} instead of ${config}`)
  // The first one is the newest.
  const versions = [...world.bucket.objects.keys()].filter((key) => key.startsWith(`${HOME}/configs/`)).sort()
  const newest = versions[0] && text(versions[0].slice(HOME.length + 1))
  if (newest !== config) world.break('the configuration is shipped', `the newest version is ${newest}`)
}
