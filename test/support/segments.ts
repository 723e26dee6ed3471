import { gzipSync } from 'node:zlib'
import { timesToShip } from '../../src/log/seek/shipped.ts'
import { crc32 } from '../../src/store/codec/crc32.ts'
import { beginKey, endKey, type How, lifeFolder, segmentName } from '../../src/store/segment/names.ts'
import { writeYoung } from '../../src/store/segment/young.ts'

type Put = (key: string, bytes: Uint8Array | string) => unknown

/** Where a segment belongs. */
export interface Where {
  log?: string
  life?: number
  /** Whether the name of a segment says when its records were written. @default true */
  timed?: boolean
}

/** Writes the bytes [start, end) of a life as a segment, as a shipper would. Gives its key. */
export async function putSegment(
  put: Put,
  text: Uint8Array,
  [start, end]: readonly [number, number],
  { log = 'a.log', life = 1, timed = true }: Where = {},
): Promise<string> {
  const bytes = text.subarray(start, end)
  const times = (timed && timesToShip(bytes)) || undefined
  const key = lifeFolder(log, life) + segmentName({ start, end, crc: crc32(bytes), times })
  await put(key, gzipSync(bytes, { level: 1 }))
  return key
}

/** Writes the object that begins a life, with the bytes [from, to) as its young text. */
export async function putYoung(
  put: Put,
  text: Uint8Array,
  [from, to]: readonly [number, number],
  { log = 'a.log', life = 1 }: Where = {},
) {
  const bytes = text.subarray(from, to)
  const young = { file: '1:2:3', from, to, crc: crc32(bytes), since: 0 }
  await put(beginKey(log, life), writeYoung(young, gzipSync(bytes, { level: 1 })))
}

/** Writes the end of a life. */
export async function putEnd(
  put: Put,
  text: Uint8Array,
  { log = 'a.log', life = 1, how = 'end' as How }: Where & { how?: How } = {},
) {
  await put(endKey(log, { life, size: text.length, crc: crc32(text.subarray(-65536)), how }), '')
}

/** Writes a whole life, cut into segments of about `size` bytes at line ends. */
export async function putLife(
  put: Put,
  text: Uint8Array,
  where: Where & { size?: number; how?: How; skip?: (index: number) => boolean } = {},
) {
  await putYoung(put, text, [0, 0], where)
  const { size = 1000, skip = () => false } = where
  for (let at = 0, index = 0; at < text.length; index++) {
    const newline = text.indexOf(10, at + size)
    const end = newline < 0 ? text.length : newline + 1
    if (!skip(index)) await putSegment(put, text, [at, end], where)
    at = end
  }
  if (where.how) await putEnd(put, text, { ...where, how: where.how })
}
