import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { parseEnd, parseKey, type Segment } from '../../src/store/segment/names.ts'
import { parseYoung } from '../../src/store/segment/young.ts'
import type { Store } from '../../src/store/store.ts'

/** A log as a bucket holds it, read without any of the reader's code. */
export interface ShippedLife {
  life: number
  /** Its text, from all segments; null when bytes are missing. */
  text: Buffer | null
  /** What `ls -r *.log.gz | xargs zcat` would print. */
  plain: Buffer
  ends: { size: number; how: string }[]
}

/** The lives of a log among objects, oldest first. */
export function livesOf(objects: ReadonlyMap<string, Uint8Array>, log: string): ShippedLife[] {
  const lives = new Map<
    number,
    { segments: { key: string; segment: Segment }[]; ends: ShippedLife['ends'] }
  >()
  const at = (life: number) => {
    const known = lives.get(life) ?? { segments: [], ends: [] }
    lives.set(life, known)
    return known
  }
  for (const key of [...objects.keys()].sort()) {
    const found = parseKey(key)
    if (found?.log === log) {
      const { segments } = at(found.life)
      const young = found.segment ? null : parseYoung(objects.get(key)!)
      if (young && young.to > young.from)
        segments.push({ key, segment: { start: young.from, end: young.to, crc: young.crc, young: true } })
      if (found.segment) segments.push({ key, segment: found.segment })
    }
    const end = parseEnd(key)
    if (end?.log === log) at(end.life).ends.push({ size: end.size, how: end.how })
  }
  const read = (key: string) => gunzipSync(objects.get(key)!)
  return [...lives]
    .sort(([a], [b]) => a - b)
    .map(([life, { segments, ends }]) => {
      const size = Math.max(0, ...segments.map(({ segment }) => segment.end))
      const text = Buffer.alloc(size)
      const filled = Buffer.alloc(size)
      for (const { key, segment } of segments) {
        read(key).copy(text, segment.start)
        filled.fill(1, segment.start, segment.end)
      }
      const whole = segments.filter(({ segment }) => !segment.young).reverse()
      return {
        life,
        text: filled.includes(0) ? null : text,
        plain: Buffer.concat(whole.map(({ key }) => read(key))),
        ends,
      }
    })
}

/** Everything below a directory, by its path. */
export function objectsIn(root: string): Map<string, Uint8Array> {
  const objects = new Map<string, Uint8Array>()
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true }))
    if (entry.isFile() && !entry.name.startsWith('.')) {
      const path = join(entry.parentPath, entry.name)
      objects.set(path.slice(root.length + 1), readFileSync(path))
    }
  return objects
}

/** Everything in a bucket, by its key. */
export async function objectsOf(home: Store): Promise<Map<string, Uint8Array>> {
  const objects = new Map<string, Uint8Array>()
  for await (const { key } of home.list()) {
    const read = await home.read(key)
    objects.set(key, new Uint8Array(await new Response(read!.body).arrayBuffer()))
  }
  return objects
}

/** The whole text of a log, over all its lives. */
export function textOf(objects: ReadonlyMap<string, Uint8Array>, log: string): string {
  return livesOf(objects, log)
    .map(({ life, text }) => text?.toString() ?? `<life ${life} has a hole>`)
    .join('')
}
