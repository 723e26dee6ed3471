import { expect, it } from 'vitest'
import { parseHeartbeat } from '../../../src/store/segment/ship-json.ts'

it('takes no name for what every object has', () => {
  const logs = '{"__proto__": {"life": 1, "size": 2}, "a": {"life": 1, "size": 3}}'
  const open = '{"__proto__": [7], "a": [1]}'
  const counts = '{"__proto__": {"minutes": {"__proto__": [1, 2], "5": [1, 2]}}}'
  const beat = parseHeartbeat(
    `{"host": "h", "run": "r", "logs": ${logs}, "open": ${open}, "counts": ${counts}}`,
  )!
  for (const name of ['constructor', 'toString', 'hasOwnProperty', 'life', 'size']) {
    expect(beat.logs[name], name).toBeUndefined()
    expect(beat.open![name], name).toBeUndefined()
    expect(beat.counts![name], name).toBeUndefined()
  }
  expect(Object.keys(beat.logs)).toEqual(['__proto__', 'a'])
  expect(Object.keys(beat.open!)).toEqual(['__proto__', 'a'])
  expect(Object.keys(beat.counts!)).toEqual(['__proto__'])
  expect(Object.keys(Object.values(beat.counts!)[0]!.minutes)).toEqual(['5'])
})

it('what is no minute and no instant is left out of counts', () => {
  const minutes = '{"29745600": [1, 2], "x": [1, 2], "1e3": [1, 2], "-1": [1, 2], "": [1, 2]}'
  const lastLines = [0, 8.64e15, 8.64e15 + 1, -1, 1.5, '"5"']
  const found = lastLines.map((lastLine) => {
    const counts = `{"a.log": {"lastLine": ${lastLine}, "minutes": ${minutes}}}`
    const { lastLine: last, minutes: kept } = parseHeartbeat(
      `{"host": "h", "run": "r", "counts": ${counts}}`,
    )!.counts!['a.log']!
    expect(Object.keys(kept)).toEqual(['29745600'])
    return last
  })
  expect(found).toEqual([0, 8.64e15, null, null, null, null])
})
