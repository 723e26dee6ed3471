import { describe, expect, it } from 'vitest'
import { isHole } from '../../../src/log/text/bytes.ts'

describe('isHole', () => {
  it('looks at every byte, wherever the bytes begin in their memory and however few they are', () => {
    for (let offset = 0; offset < 9; offset++)
      for (let length = 0; length < 12; length++) {
        const bytes = new Uint8Array(new ArrayBuffer(32), offset, length)
        expect(isHole(bytes)).toBe(true)
        for (let at = 0; at < length; at++) {
          bytes[at] = 1
          expect(isHole(bytes), `${length} bytes at ${offset}, byte ${at} set`).toBe(false)
          bytes[at] = 0
        }
      }
  })
})
