import { gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SegmentMap } from '../../../src/store/segment/cover.ts'
import {
  beginKey,
  endKey,
  LARGEST_SEGMENT,
  largestEnds,
  lifeName,
  olderName,
  parseEnd,
  parseFile,
  parseKey,
  parseLife,
  parseSegment,
  type Segment,
  segmentName,
  startName,
} from '../../../src/store/segment/names.ts'
import { parseYoung, writeYoung, youngText } from '../../../src/store/segment/young.ts'

const segment = fc
  .record({
    start: fc.integer({ min: 0, max: 10 ** 14 }),
    length: fc.integer({ min: 1, max: LARGEST_SEGMENT }),
    crc: fc.integer({ min: 0, max: 0xffffffff }),
  })
  .map(({ start, length, crc }): Segment => ({ start, end: start + length, crc, young: false }))

describe('names of the layout', () => {
  it('are spelled as the layout says', () => {
    expect(lifeName(1)).toBe('99999998')
    expect(segmentName({ start: 0, end: 1, crc: 0xab })).toBe('999999999999999-99999998-000000ab.log.gz')
    expect(beginKey('broker.log', 12)).toBe('segments/broker.log/99999987/~')
    expect(beginKey('broker.log', -12)).toBe('segments/broker.log/older-99999987/~')
    expect(parseKey('segments/broker.log/older-99999987/~')).toMatchObject({ life: -12, segment: null })
    expect(parseEnd('ends/broker.log/older-99999987-5-000000ab-end')).toMatchObject({ life: -12, size: 5 })
    expect(olderName('broker.log', -12)).toBe('broker.log@older-000012')
    expect(parseFile('broker.log@older-000012')).toEqual({ log: 'broker.log', life: -12 })
    expect(endKey('broker.log', { life: 3, size: 1234, crc: 7, how: 'cut' })).toBe(
      'ends/broker.log/99999996-1234-00000007-cut',
    )
    expect(olderName('broker.log', 11)).toBe('broker.log@000011')
  })

  it('come back as they were written', () => {
    fc.assert(
      fc.property(segment, fc.integer({ min: 1, max: 99_999_997 }), (segment, life) => {
        expect(parseSegment(segmentName(segment))).toEqual(segment)
        expect(parseLife(lifeName(life))).toBe(life)
        expect(parseKey(`segments/a.log/${lifeName(life)}/${segmentName(segment)}`)).toEqual({
          log: 'a.log',
          life,
          segment,
        })
        expect(parseFile(olderName('a@b.log', life))).toEqual({ log: 'a@b.log', life })
        const end = { life, size: segment.end, crc: segment.crc, how: 'lost' as const }
        expect(parseEnd(endKey('a.log', end))).toEqual({ ...end, log: 'a.log' })
      }),
    )
  })

  it('sort the newest first, and the longest among equal starts', () => {
    fc.assert(
      fc.property(segment, segment, (a, b) => {
        const first = segmentName(a) < segmentName(b)
        if (a.start !== b.start) expect(first).toBe(a.start > b.start)
        else if (a.end !== b.end) expect(first).toBe(a.end > b.end)
        expect(segmentName(a) < '~').toBe(true)
        // What follows the name of a place starts at or before it.
        expect(startName(a.start) < segmentName(a)).toBe(true)
        expect(startName(a.start - 1) > segmentName(a)).toBe(a.start > 0)
      }),
    )
  })

  it.each([
    'segments/a/99999998/x.log.gz',
    'segments/a/99999998/999999999999999-99999999-000000ab.log.gz',
    'segments/a/99999999/~',
    'segments/a/b/99999998/~',
    'segments//99999998/~',
    'logs/a',
  ])('%s is none', (key) => {
    expect(parseKey(key)).toBeNull()
  })

  it.each(['', '{}', '{"file":"1","from":5,"to":4,"crc":0,"since":0}', '{"from":0,"to":1}', 'null'])(
    '%j is no comment of a ~',
    (comment) => {
      const packed = gzipSync('text')
      const young = writeYoung({ file: '1:2:3', from: 0, to: 4, crc: 9, since: 7 }, packed)
      expect(parseYoung(young)).toEqual({ file: '1:2:3', from: 0, to: 4, crc: 9, since: 7 })
      expect(gunzipSync(young).toString()).toBe('text')
      expect(Buffer.from(youngText(young)).equals(packed)).toBe(true)
      const end = young.indexOf(0, 10)
      const other = Buffer.concat([young.subarray(0, 10), Buffer.from(comment), young.subarray(end)])
      expect(parseYoung(other)).toBeNull()
    },
  )

  it('know the largest end of a life', () => {
    const end = (size: number) => ({ life: 2, size, crc: 0, how: 'end' as const })
    expect(largestEnds([end(5), end(9), end(7)]).get(2)?.size).toBe(9)
  })

  it.each(['broker.log', 'broker.log@11', 'broker.log@000000', '@000011'])(
    '%s is the newest life',
    (name) => {
      expect(parseFile(name)).toEqual({ log: name, life: null })
    },
  )
})

describe('a map of segments', () => {
  it('covers each byte once, or names the first that no segment holds', () => {
    const small = fc.tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 1, max: 20 })).map(
      ([start, length]): Segment => ({
        start,
        end: start + length,
        crc: start * 100 + length,
        young: false,
      }),
    )
    const range = fc.tuple(fc.integer({ min: 0, max: 80 }), fc.integer({ min: 0, max: 80 }))
    fc.assert(
      fc.property(fc.array(small, { maxLength: 12 }), range, (segments, [a, b]) => {
        const [from, to] = [Math.min(a, b), Math.max(a, b)]
        const map = new SegmentMap()
        for (const segment of segments) map.add(segment)
        const held = (at: number) => segments.some(({ start, end }) => start <= at && at < end)
        const { pieces, hole } = map.cover(from, to)
        let at = from
        for (const piece of pieces) {
          expect(piece.from).toBe(at)
          expect(piece.segment.start <= piece.from && piece.to <= piece.segment.end).toBe(true)
          at = piece.to
        }
        if (hole === null) expect(at).toBe(Math.max(from, to))
        else {
          expect(hole.at).toBe(at)
          expect(held(at)).toBe(false)
          expect(hole.to).toBe(Math.min(...segments.map(({ start }) => start).filter((start) => start > at)))
          expect(hole.from).toBe(
            Math.max(0, ...segments.filter(({ start }) => start <= at).map(({ end }) => end)),
          )
        }
      }),
    )
  })
})
