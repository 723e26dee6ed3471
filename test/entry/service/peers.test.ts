import { createSocket, type Socket } from 'node:dgram'
import dns from 'node:dns/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { nodesOf, openPeers } from '../../../src/entry/service/peers.ts'

/** The targets of each name's SRV records; a name without any does not exist. */
const targets = new Map<string, string[]>()
let isAway = false
const asked: string[] = []
const before = dns.getServers()
let server: Socket

/** A name server on this machine that answers questions about SRV records. */
beforeAll(async () => {
  server = createSocket('udp4', (question, { port, address }) => {
    const name = nameIn(question)
    asked.push(name)
    if (!isAway) server.send(answerTo(question, targets.get(name) ?? []), port, address)
  })
  await new Promise<void>((resolve) => server.bind(0, '127.0.0.1', resolve))
  dns.setServers([`127.0.0.1:${server.address().port}`])
})

afterAll(() => {
  dns.setServers(before)
  server.close()
})

afterEach(() => {
  vi.restoreAllMocks()
  isAway = false
})

const HEADER = 12

function nameIn(question: Buffer): string {
  const labels: string[] = []
  for (let at = HEADER; question[at]! > 0; at += question[at]! + 1)
    labels.push(question.toString('latin1', at + 1, at + 1 + question[at]!))
  // A resolver may draw the case of its letters, to tell its own questions.
  return labels.join('.').toLowerCase()
}

function answerTo(question: Buffer, names: readonly string[]): Buffer {
  const end = question.indexOf(0, HEADER) + 5
  const head = Buffer.from(question.subarray(0, end))
  // An answer, to a question about which recursion is available; 3: there is no such name.
  head.writeUInt16BE(names.length > 0 ? 0x8180 : 0x8183, 2)
  head.writeUInt16BE(names.length, 6)
  head.writeUInt32BE(0, 8)
  const records = names.map((name) => {
    const labels = [...name.split('.'), ''].map((label) => {
      return Buffer.concat([Buffer.from([label.length]), Buffer.from(label, 'latin1')])
    })
    const target = Buffer.concat(labels)
    const record = Buffer.alloc(18)
    record.writeUInt16BE(0xc00c, 0)
    record.writeUInt16BE(33, 2)
    record.writeUInt16BE(1, 4)
    record.writeUInt32BE(5, 6)
    record.writeUInt16BE(6 + target.length, 10)
    record.writeUInt16BE(9000, 16)
    return Buffer.concat([record, target])
  })
  return Buffer.concat([head, ...records])
}

const SETTINGS = { peers: [], peersFrom: null, peerSelf: null, peerTokenFile: null }

describe('the nodes of a name', () => {
  it('are the targets of its SRV records, each under its first label', async () => {
    targets.set('db.example', ['db-1.db.example', 'db-0.db.example', 'DB-2.db.example'])
    expect(await nodesOf(new URL('http://db.example:9000/state/'))).toEqual([
      { id: 'DB-2', url: 'http://DB-2.db.example:9000/state' },
      { id: 'db-0', url: 'http://db-0.db.example:9000/state' },
      { id: 'db-1', url: 'http://db-1.db.example:9000/state' },
    ])
    expect(asked).toContain('db.example')
  })

  it('are its addresses if it has no SRV records', async () => {
    const [node] = await nodesOf(new URL('http://localhost:9000'))
    expect(node).toBeDefined()
    expect([
      { id: '127-0-0-1', url: 'http://127.0.0.1:9000' },
      { id: '1', url: 'http://[::1]:9000' },
    ]).toContainEqual(node)
  })

  it('have no ids that could be something else in a path or a header', async () => {
    targets.set('odd.example', ['_x.example', 'ok.example', '-y.example'])
    const found = await nodesOf(new URL('http://odd.example'))
    expect(found.map(({ id }) => id)).toEqual(['ok'])
  })

  it('are looked up again, and stay while the name server is away', async () => {
    const reported: string[] = []
    targets.set('live.example', ['db-1.live.example', 'db-2.live.example'])
    const peersFrom = 'http://live.example:9000'
    const settings = { ...SETTINGS, peersFrom, peerSelf: 'db-2' }
    const peers = openPeers({ ...settings, peers: [['db-9', 'http://db-9:9000']] }, (line) =>
      reported.push(line),
    )!
    const ids = () => peers().map(({ id }) => id)
    await vi.waitFor(() => expect(ids()).toEqual(['db-9', 'db-1']), 60_000)
    const [, first] = peers()
    expect(peers()).toBe(peers())
    targets.set('live.example', ['db-1.live.example', 'db-2.live.example', 'db-3.live.example'])
    const start = performance.now()
    const clock = vi.spyOn(performance, 'now').mockReturnValue(start + 31_000)
    await vi.waitFor(() => expect(ids()).toEqual(['db-9', 'db-1', 'db-3']), 60_000)
    // A peer that stays is the same, with its connections.
    expect(peers()[1]).toBe(first)
    targets.delete('live.example')
    clock.mockReturnValue(start + 62_000)
    expect(ids()).toEqual(['db-9', 'db-1', 'db-3'])
    await vi.waitFor(() => expect(reported).toHaveLength(1), 60_000)
    expect(reported[0]).toContain('those that are known stay')
    expect(ids()).toEqual(['db-9', 'db-1', 'db-3'])
  })
})
