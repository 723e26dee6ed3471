import { expect, it } from 'vitest'
import { systemClock } from '../../../src/kit/limits/clock.ts'
import { logFiles } from '../../../src/log/files/files.ts'
import { Channel } from '../../../src/log/follow/channel.ts'
import { Hub } from '../../../src/log/follow/hub.ts'
import { PLAIN } from '../../../src/log/format/detect.ts'
import { EVERY_RECORD } from '../../../src/log/selection.ts'
import { UTC } from '../../../src/log/time.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { contextOf } from '../context.ts'

const place = {
  name: 'a.log',
  id: null,
  offset: 0,
  print: { offset: 0, length: 0, hash: 0 },
  splitsRecord: false,
}
const filter = { format: PLAIN, zone: UTC, selection: EVERY_RECORD, since: null, until: null }
const frame = { events: false, json: false }

it('looks at a long line when it ends, not with every piece of it', () => {
  let looks = 0
  const format = {
    ...PLAIN,
    starts: () => {
      looks++
      return true
    },
  }
  const channel = new Channel(place, null, {
    frame,
    filter: { ...filter, format },
    raw: false,
    clock: systemClock,
  })
  const piece = new TextEncoder().encode('x'.repeat(100))
  const feed = (bytes: Uint8Array, offset: number) =>
    channel.feed({ kind: 'data', name: 'a.log', id: null, offset, bytes })
  for (let i = 0; i < 1000; i++) expect(feed(piece, i * 100)).toBe(false)
  expect(looks).toBe(0)
  expect(feed(new TextEncoder().encode('\n'), 100_000)).toBe(true)
  channel.flush()
  expect(channel.batch(0)!.packet.bytes.length).toBe(100_001)
})

it('knows the place after a line that came in two halves by the beginning of the line', () => {
  const channel = new Channel(place, null, { frame, filter, raw: false, clock: systemClock })
  const [half, rest] = ['2026-11-15 00:00:00.000 one ...', '.....\n'].map((text) =>
    new TextEncoder().encode(text),
  )
  channel.feed({ kind: 'data', name: 'a.log', id: null, offset: 0, bytes: half! })
  channel.feed({ kind: 'data', name: 'a.log.1', id: null, offset: half!.length, bytes: rest! })
  channel.flush()
  const { name, offset, print } = channel.place
  expect({ name, offset, from: print.offset, length: print.length }).toEqual({
    name: 'a.log.1',
    offset: half!.length + rest!.length,
    from: 0,
    length: half!.length + rest!.length,
  })
})

it('has a heartbeat that is read late name the place after everything that was sent meanwhile', () => {
  const events = { events: true, json: false }
  const channel = new Channel(place, null, { frame: events, filter, raw: false, clock: systemClock })
  const idIn = ({ bytes }: { bytes: Uint8Array }) => /^id: (.*)$/m.exec(new TextDecoder().decode(bytes))![1]
  channel.feed({ kind: 'data', name: 'a.log', id: null, offset: 0, bytes: new TextEncoder().encode('one\n') })
  channel.heartbeat()
  const early = idIn(channel.beat)
  channel.flush()
  expect(idIn(channel.beat)).toBe(idIn(channel.batch(0)!.packet))
  expect(idIn(channel.beat)).not.toBe(early)
})

it('closes a channel that fails, and feeds the others', async () => {
  const store = memoryStore({ 'a.log': 'one\n' })
  const limits = {
    clock: systemClock,
    followers: 9,
    heartbeat: 60_000,
    duration: null,
    poll: [5, 5] as const,
    shared: true,
  }
  const hub = await Hub.open(
    contextOf(logFiles(store)),
    limits,
    { file: 'a.log', alone: false, archived: false },
    () => {},
  )
  const broken = {
    ...filter,
    format: {
      ...PLAIN,
      starts: () => {
        throw new Error('a fault')
      },
    },
  }
  const bad = await hub.join('bad', frame, broken, false)
  const good = await hub.join('good', frame, filter, false)
  const raw = await hub.join('raw', frame, filter, true)
  store.put('a.log', 'one\ntwo\nthree\n')
  await hub.sync()
  good.channel.flush()
  expect(bad.channel.failure).toEqual(new Error('a fault'))
  const text = (bytes?: Uint8Array) => new TextDecoder().decode(bytes)
  expect(text(good.channel.batch(0)?.packet.bytes)).toBe('two\n')
  expect(text(good.channel.batch(1)?.packet.bytes)).toBe('three\n')
  expect(text(raw.channel.batch(0)?.packet.bytes)).toBe('two\nthree\n')
  // Whoever comes back gets a new channel.
  expect((await hub.join('bad', frame, filter, false)).channel.failure).toBe(null)
  for (const [key, { channel }] of Object.entries({ bad, good, raw })) hub.leave(key, channel)
})
