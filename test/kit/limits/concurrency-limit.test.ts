import { describe, expect, test } from 'vitest'
import { concurrencyLimit, setOwner } from '../../../src/kit/limits/concurrency-limit.ts'

const limit = (most: number, queue?: number) =>
  concurrencyLimit({ most, ...(queue !== undefined && { queue }), busy: () => new Error('busy') })

/** Whether a promise is settled by now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false
  promise.then(
    () => (settled = true),
    () => (settled = true),
  )
  await new Promise((resolve) => setTimeout(resolve))
  return settled
}

describe('long jobs', () => {
  test('leave a slot to the others', async () => {
    const slots = limit(3)
    const first = await slots.enter(undefined, 'long')
    await slots.enter(undefined, 'long')
    const third = slots.enter(undefined, 'long')
    expect(await isSettled(third)).toBe(false)
    expect(slots.load).toEqual({ running: 2, waiting: 1 })
    expect(await slots.run(async () => 'done')).toBe('done')
    expect(await isSettled(third)).toBe(false)
    first()
    expect(await isSettled(third)).toBe(true)
    expect(slots.load).toEqual({ running: 2, waiting: 0 })
  })

  test('have the only slot, if there is one', async () => {
    const slots = limit(1)
    const leave = await slots.enter(undefined, 'long')
    const next = slots.run(async () => 'done')
    expect(await isSettled(next)).toBe(false)
    leave()
    expect(await next).toBe('done')
  })

  test('wait in a line of their own, and nobody is passed over for good', async () => {
    const slots = limit(2, 1)
    const long = await slots.enter(undefined, 'long')
    const short = await slots.enter()
    const nextLong = slots.enter(undefined, 'long')
    await expect(slots.enter(undefined, 'long')).rejects.toThrow('busy')
    const nextShort = slots.enter()
    await expect(slots.enter()).rejects.toThrow('busy')
    short()
    expect(await isSettled(nextShort)).toBe(true)
    expect(await isSettled(nextLong)).toBe(false)
    long()
    long()
    expect(await isSettled(nextLong)).toBe(true)
    expect(slots.load).toEqual({ running: 2, waiting: 0 })
  })
})

describe('owners', () => {
  const of = (owner: string) => {
    const { signal } = new AbortController()
    setOwner(signal, owner)
    return signal
  }
  /** Enters for an owner and notes its name when it gets the slot. */
  const asking = (slots: ReturnType<typeof limit>, order: string[]) => async (owner: string) => {
    const leave = await slots.enter(owner === '' ? undefined : of(owner))
    order.push(owner)
    return leave
  }
  const turn = () => new Promise((resolve) => setImmediate(resolve))

  test('take every free slot', async () => {
    const slots = limit(4)
    for (let i = 0; i < 4; i++) await slots.enter(of('a'))
    expect(slots.load).toEqual({ running: 4, waiting: 0 })
  })

  test('with the fewest running calls come next, whoever came first', async () => {
    const slots = limit(3, 100)
    const order: string[] = []
    const ask = asking(slots, order)
    const first = [await ask('a'), await ask('a'), await ask('a')]
    const rest = ['a', 'a', 'b', 'a', 'c', 'b'].map(ask)
    for (const leave of first) leave()
    await turn()
    expect(order.slice(3)).toEqual(['b', 'c', 'a'])
    for (const leave of await Promise.all([rest[2]!, rest[4]!, rest[0]!])) {
      leave()
      await turn()
    }
    // b is done with one and waits with another: it has none running, as c has and a, and a came first.
    expect(order.slice(6)).toEqual(['b', 'a', 'a'])
  })

  test('take turns at the only slot', async () => {
    const slots = limit(1, 100)
    const order: string[] = []
    const ask = asking(slots, order)
    await Promise.all([...'aaaabbc'].map(async (owner) => (await ask(owner))()))
    expect(order.join('')).toBe('abcabaa')
  })

  test('wait for at most one call of each other owner, with hundreds of waiters', async () => {
    const slots = limit(4, 1000)
    const order: string[] = []
    const ask = asking(slots, order)
    const leaves: (() => void)[] = []
    const go = (owner: string) => void ask(owner).then((leave) => leaves.push(leave))
    for (let i = 0; i < 500; i++) go('greedy')
    for (let n = 0; n < 100; n++) go(`modest ${n}`)
    await turn()
    expect(slots.load).toEqual({ running: 4, waiting: 596 })
    for (let done = 0; done < 600; done++) {
      leaves.shift()!()
      await turn()
    }
    expect(slots.load).toEqual({ running: 0, waiting: 0 })
    // While the greedy one runs anything, each slot goes to one that runs nothing.
    const last = order.findLastIndex((owner) => owner.startsWith('modest'))
    expect(order.slice(0, last + 1).filter((owner) => owner === 'greedy').length).toBeLessThanOrEqual(4 + 34)
    expect(order.filter((owner) => owner.startsWith('modest'))).toEqual(
      Array.from({ length: 100 }, (_, n) => `modest ${n}`),
    )
    expect(order.filter((owner) => owner === 'greedy')).toHaveLength(500)
  })

  test('cannot fill the queue against the others', async () => {
    const slots = limit(1, 4)
    await slots.enter(of('a'))
    const greedy = Array.from({ length: 4 }, () => slots.enter(of('a')).then(Boolean, () => 'refused'))
    await expect(slots.enter(of('a'))).rejects.toThrow('busy')
    const modest = slots.enter(of('b')).then(Boolean, () => 'refused')
    expect(await greedy[3]).toBe('refused')
    const second = slots.enter(of('b')).then(Boolean, () => 'refused')
    expect(await greedy[2]).toBe('refused')
    // Two against two: nobody gives way any more.
    await expect(slots.enter(of('b'))).rejects.toThrow('busy')
    expect(slots.load).toEqual({ running: 1, waiting: 4 })
    for (const waiting of [greedy[0]!, greedy[1]!, modest, second])
      expect(await isSettled(waiting)).toBe(false)
  })

  test('that leave or are refused are not counted', async () => {
    const slots = limit(1, 10)
    const leave = await slots.enter(of('a'))
    const abort = new AbortController()
    setOwner(abort.signal, 'b')
    const left = slots.enter(abort.signal)
    const next = slots.enter(of('a'))
    abort.abort(new Error('gone'))
    await expect(left).rejects.toThrow('gone')
    leave()
    await next
    expect(slots.load).toEqual({ running: 1, waiting: 0 })
  })

  test('that are not known are served in the order of their calls', async () => {
    const slots = limit(2, 100)
    const order: number[] = []
    const leaves = [await slots.enter(), await slots.enter()]
    const rest = Array.from({ length: 20 }, async (_, n) => {
      const leave = await slots.enter(new AbortController().signal)
      order.push(n)
      leave()
    })
    for (const leave of leaves) leave()
    await Promise.all(rest)
    expect(order).toEqual(Array.from({ length: 20 }, (_, n) => n))
  })
})
