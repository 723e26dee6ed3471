import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { Token } from '../../../src/core/access/grant.ts'
import { fsStore } from '../../../src/store/fs.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { createApp, createFleet } from '../../support/app.ts'
import { manualClock } from '../../support/manual-clock.ts'

const directory = mkdtempSync(join(tmpdir(), 'nodestate-revoked-'))
writeFileSync(join(directory, 'a.log'), 'one\n')
writeFileSync(join(directory, 'large.log'), `${'x'.repeat(99)}\n`.repeat(400_000))
afterAll(() => rmSync(directory, { recursive: true }))
let clock = manualClock()
beforeEach(() => {
  clock = manualClock()
})

const TOKEN: Token = {
  name: 'grafana',
  token: 's3cr3t',
  scopes: ['logs', 'config'],
  files: ['a.log', '*.gz'],
}
const OTHER: Token = { name: 'other', token: 'other' }

function open(path: string, accept = '*/*', { files = TOKEN.files } = {}) {
  let tokens: () => readonly Token[] = () => before
  const before = [{ ...TOKEN, files }, OTHER]
  const options = { config: '', tokens: () => tokens(), onError: () => {}, clock }
  const app = createApp({ logs: fsStore(directory), ...options })
  const answer = app.request(`/api/v1/log/${path}`, {
    headers: { Authorization: 'Bearer s3cr3t', Accept: accept },
  })
  return {
    answer,
    change(now: readonly Token[] | (() => never)) {
      tokens = typeof now === 'function' ? now : () => now
    },
  }
}

/** What a body still sends until it ends; throws if it is cut. */
async function rest(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text
    text += decoder.decode(value, { stream: true })
  }
}

const CHANGES: [string, readonly Token[] | (() => never)][] = [
  ['is removed', [OTHER]],
  ['is the last one and is removed', []],
  ['gets another secret', [{ ...TOKEN, token: 'new' }, OTHER]],
  ['loses its scope', [{ ...TOKEN, scopes: ['config'] }, OTHER]],
  ['loses its file', [{ ...TOKEN, files: ['*.gz'] }, OTHER]],
  ['is for nodes of a fleet', [{ ...TOKEN, nodes: ['db-*'] }, OTHER]],
  [
    'cannot be checked',
    () => {
      throw new Error('no tokens')
    },
  ],
]

describe.each(CHANGES)('a token that %s', (_, change) => {
  it('stops following with the event revoked, within five seconds', async () => {
    const follow = open('view?file=a.log&follow=true', 'text/event-stream')
    const reader = (await follow.answer).body!.getReader()
    await reader.read()
    follow.change(change)
    const sent = rest(reader)
    await clock.pass(5000)
    expect(await sent).toMatch(/event: revoked\ndata: \{\}\n\n$/)
  })

  it.each(['view?file=a.log&follow=true', 'view?file=a.log&follow=true&format=ndjson'])(
    'is cut off where there are no events: %s',
    async (path) => {
      const follow = open(path)
      const reader = (await follow.answer).body!.getReader()
      expect(new TextDecoder().decode((await reader.read()).value)).toContain('one')
      follow.change(change)
      const sent = rest(reader)
      sent.catch(() => {})
      await clock.pass(5000)
      await expect(sent).rejects.toThrow('The token no longer allows this answer')
    },
  )
})

describe('other long answers', () => {
  it.each([
    'download?file=large.log',
    'view?file=large.log&q=x&download=true',
    'view?file=large.log&size=40000000',
  ])('are cut: %s', async (path) => {
    const { answer, change } = open(path, '*/*', { files: ['large.log'] })
    const reader = (await answer).body!.getReader()
    await reader.read()
    change([OTHER])
    await clock.pass(5000)
    await expect(rest(reader)).rejects.toThrow()
  })
})

describe('a token that still allows it', () => {
  it.each<[string, Token[]]>([
    ['is unchanged in a new list', [{ ...TOKEN }, OTHER]],
    ['has another name', [{ ...TOKEN, name: 'renamed' }]],
    ['may see more', [{ ...TOKEN, files: ['b.log', 'a.log', '*.gz'] }]],
    ['may see everything', [{ name: 'all', token: 's3cr3t' }]],
  ])('goes on: %s', async (_, tokens) => {
    const follow = open('view?file=a.log&follow=true', 'text/event-stream')
    const reader = (await follow.answer).body!.getReader()
    await reader.read()
    follow.change(tokens)
    let isOver = false
    const sent = rest(reader).then((text) => {
      isOver = true
      return text
    })
    await clock.pass(20_000)
    expect(isOver).toBe(false)
    await reader.cancel()
    expect(await sent).not.toContain('revoked')
    // A log without followers is watched for a moment longer.
    await clock.pass(2000)
    expect(clock.timers).toBe(0)
  })
})

it('holds in a fleet, where a token loses its node', async () => {
  let tokens = [{ ...TOKEN, files: undefined, nodes: ['db-*'] }]
  const store = memoryStore({
    'db-1/logs/a.log': 'one\n',
    'db-1/config.toml': '',
    'db-1/node.json': JSON.stringify({
      hostIp: '192.0.2.4',
      hostName: 'db-1',
      grpcPort: 1,
      httpPort: 2,
      version: '1',
      onlineTime: 5,
    }),
  })
  const fleet = createFleet({ store, tokens: () => tokens, onError: () => {}, clock })
  const headers = { Authorization: 'Bearer s3cr3t', Accept: 'text/event-stream' }
  const answer = await fleet.request('/nodes/db-1/api/v1/log/view?file=a.log&follow=true', { headers })
  const reader = answer.body!.getReader()
  await reader.read()
  tokens = [{ ...tokens[0]!, nodes: ['db-2'] }]
  const sent = rest(reader)
  await clock.pass(5000)
  expect(await sent).toMatch(/event: revoked\ndata: \{\}\n\n$/)
})
