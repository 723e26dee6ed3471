import { describe, expect, it } from 'vitest'
import { sharesOf } from '../../../src/log/options.ts'
import { remoteChunk } from '../../../src/log/search/reading.ts'

const MIB = 1024 * 1024

describe('the size of a read over a network', () => {
  it.each([
    ['a server with its default memory', 2048, 16, 8],
    ['a server in a small container', 256, 16, 4],
    ['a worker at the edge', 128, 6, 6],
    ['the smallest node', 32, 16, 1],
  ])('%s reads what its memory allows for all reads together', (_where, memory, parallel, expected) => {
    const reading = { chunk: MIB, parallel, memory: sharesOf(memory * MIB).answers }
    expect(remoteChunk(reading)).toBe(expected * MIB)
  })
})
