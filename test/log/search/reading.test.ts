import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/kit/limits/clock.ts'
import { MemoryBudget } from '../../../src/kit/limits/memory-budget.ts'
import { sharesOf } from '../../../src/log/options.ts'
import { FREE_READS, leaseForReads, remoteChunk, SLACK } from '../../../src/log/search/reading.ts'

const MIB = 1024 * 1024

describe('the size of a read over a network', () => {
  it.each([
    ['a server with its default memory', 2048, 16, 8],
    ['a server in a small container', 256, 16, 3],
    ['a worker at the edge', 128, 6, 6],
    ['the smallest node', 32, 16, 1],
  ])('%s reads what its memory allows for all reads together', (_where, memory, parallel, expected) => {
    const reading = { chunk: MIB, clock: systemClock, parallel, memory: sharesOf(memory * MIB).answers }
    expect(remoteChunk(reading)).toBe(expected * MIB)
  })

  it.each([
    [2048, 16],
    [512, 16],
    [256, 16],
    [128, 6],
  ])('leaves memory for an answer: %i MiB, %i in parallel', (memory, parallel) => {
    const { answers } = sharesOf(memory * MIB)
    const size = remoteChunk({ chunk: MIB, clock: systemClock, parallel, memory: answers })
    // One more is being examined, and one was.
    const leased = (parallel + 2 - FREE_READS) * (size + SLACK)
    expect(answers - leased).toBeGreaterThan(0.2 * answers)
  })
})

describe('the memory for reads', () => {
  it('leaves some for answers, whoever reads', () => {
    const memory = new MemoryBudget(1000)
    const [one, other] = [leaseForReads(memory)!, leaseForReads(memory)!]
    expect(one.grow(400)).toBe(true)
    expect(other.grow(101)).toBe(false)
    expect(other.grow(100)).toBe(true)
    expect(memory.lease(500)).not.toBeNull()
    one.release()
    expect(memory.used).toBe(600)
  })
})
