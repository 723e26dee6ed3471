import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  renameSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fastReads } from '../../src/store/fast.ts'
import { fsStore } from '../../src/store/fs.ts'
import type { Entry, StoreRead } from '../../src/store/store.ts'
import { directory, root, store, useFresh } from './fs/fresh.ts'

useFresh()

const put = (name: string, content: string | Uint8Array = name) =>
  writeFileSync(join(directory, name), content)
const names = async () => (await all(store.list())).map((entry) => entry.key)
const text = async (got: StoreRead | null) => got && (await new Response(got.body).text())
const openFiles = () => readdirSync('/proc/self/fd').length

async function all(entries: AsyncIterable<Entry>): Promise<Entry[]> {
  const list: Entry[] = []
  for await (const entry of entries) list.push(entry)
  return list
}

/** Root may read everything, so during `act` the process runs as nobody. */
async function asOrdinaryUser(act: () => Promise<void>) {
  const root = process.geteuid?.() === 0
  if (root) process.seteuid?.(65534)
  try {
    await act()
  } finally {
    if (root) process.seteuid?.(0)
  }
}

describe('fsStore', () => {
  it('lists regular files alone, in the order of their UTF-8 bytes', async () => {
    const good = [
      '.hidden',
      '-dash',
      ' lead',
      'a b',
      'a%20b',
      'a+b',
      'a#b',
      `quo"te'`,
      'B',
      'é',
      'e\u0301',
      '😀',
      '\uFF5E',
      'x'.repeat(255),
      'line\nbreak',
      'a..b',
      '...',
    ]
    for (const name of good) put(name)
    mkdirSync(join(directory, 'directory.log'))
    put('back\\slash')
    execFileSync('mkfifo', [join(directory, 'fifo.log')])
    const listed = await names()
    expect(listed).toEqual([...good].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))))
    for (const name of listed) expect(await text(await store.read(name))).toBe(name)
  })

  it('follows links to regular files inside, and no others', async () => {
    put('real.log', 'inside')
    mkdirSync(join(directory, 'sub'))
    writeFileSync(join(directory, 'sub', 'deep.log'), 'deep')
    writeFileSync(join(root, 'outside'), 'secret')
    mkdirSync(join(root, 'logs-evil'))
    writeFileSync(join(root, 'logs-evil', 'x'), 'secret')
    const link = (name: string, target: string) => symlinkSync(target, join(directory, name))
    link('in', 'real.log')
    link('in-absolute', join(directory, 'real.log'))
    link('in-twice', 'in')
    link('in-sub', 'sub/deep.log')
    link('out', '../outside')
    link('out-absolute', join(root, 'outside'))
    link('sibling', '../logs-evil/x')
    link('device', '/dev/zero')
    link('dangling', 'nowhere')
    link('loop', 'loop')
    link('loop-a', 'loop-b')
    link('loop-b', 'loop-a')
    link('to-directory', 'sub')
    link('up', '..')
    expect(await names()).toEqual(['in', 'in-absolute', 'in-sub', 'in-twice', 'real.log'])
    expect(await text(await store.read('in-twice'))).toBe('inside')
    expect(await text(await store.read('in-sub'))).toBe('deep')
    for (const name of [
      'out',
      'out-absolute',
      'sibling',
      'device',
      'dangling',
      'loop',
      'loop-a',
      'to-directory',
      'up',
    ]) {
      expect(await store.stat(name), name).toBeNull()
      expect(await store.read(name), name).toBeNull()
    }
  })

  it('a link into a place that may not be looked into is none of ours, and the others are listed', async () => {
    put('a.log')
    mkdirSync(join(root, 'closed'), { mode: 0o700 })
    writeFileSync(join(root, 'closed', 'x'), 'secret')
    symlinkSync('../closed/x', join(directory, 'b.log'))
    chmodSync(root, 0o755)
    if (process.geteuid?.() !== 0) chmodSync(join(root, 'closed'), 0)
    await asOrdinaryUser(async () => {
      expect(await names()).toEqual(['a.log'])
      expect(await store.stat('b.log')).toBeNull()
      expect(await store.read('b.log')).toBeNull()
    })
    chmodSync(join(root, 'closed'), 0o700)
  })

  it('lists names that look the same once', async () => {
    for (const byte of [0xfd, 0xfe])
      writeFileSync(Buffer.concat([Buffer.from(`${directory}/x`), Buffer.from([byte])]), 'same')
    expect(await names()).toEqual(['x\uFFFD'])
    expect(await text(await store.read('x\uFFFD'))).toBe('same')
  })

  it('works in a directory that is itself a link', async () => {
    put('real.log', 'inside')
    symlinkSync('real.log', join(directory, 'link.log'))
    symlinkSync(directory, join(root, 'alias'))
    const aliased = fsStore(join(root, 'alias'))
    expect(await text(await aliased.read('link.log'))).toBe('inside')
  })

  it.each([
    '',
    '.',
    '..',
    '../outside',
    '/etc/passwd',
    'sub/deep.log',
    'a\\b',
    'a\0b',
    './a',
    'a/',
    '..%2foutside',
    'x'.repeat(256),
  ])('knows nothing of %j', async (name) => {
    writeFileSync(join(root, 'outside'), 'secret')
    mkdirSync(join(directory, 'sub'))
    writeFileSync(join(directory, 'sub', 'deep.log'), 'deep')
    put('a')
    expect(await store.stat(name)).toBeNull()
    expect(await store.read(name)).toBeNull()
  })

  it('lists and reads a file whose name is not UTF-8', async () => {
    writeFileSync(
      Buffer.concat([Buffer.from(`${directory}/bad-`), Buffer.from([0xff]), Buffer.from('.log')]),
      'content',
    )
    expect(await names()).toEqual(['bad-\uFFFD.log'])
    expect(await text(await store.read('bad-\uFFFD.log'))).toBe('content')
  })

  it('is not hung by a FIFO or a socket', async () => {
    execFileSync('mkfifo', [join(directory, 'fifo')])
    const server = createServer()
    await new Promise<void>((done) => server.listen(join(directory, 'socket'), done))
    expect(await store.read('fifo')).toBeNull()
    expect(await store.read('socket')).toBeNull()
    expect(await names()).toEqual([])
    await new Promise((done) => server.close(done))
  })

  it('lists ten thousand files without keeping any of them open', async () => {
    for (let i = 0; i < 10_000; i++) put(`f${i}`, '')
    const before = openFiles()
    let most = 0
    let count = 0
    for await (const _ of store.list()) if (count++ % 1000 === 0) most = Math.max(most, openFiles())
    expect(count).toBe(10_000)
    expect(most).toBeLessThanOrEqual(before + 2)
  })

  it('tells a missing directory from a missing file, and recovers when it appears', async () => {
    const late = fsStore(join(root, 'late'))
    await expect(all(late.list())).rejects.toMatchObject({
      name: 'StoreError',
      code: 'unavailable',
    })
    await expect(late.stat('x')).rejects.toMatchObject({ code: 'unavailable' })
    await expect(late.read('x')).rejects.toMatchObject({ code: 'unavailable' })
    mkdirSync(join(root, 'late'))
    expect(await all(late.list())).toEqual([])
    expect(await late.read('x')).toBeNull()
    writeFileSync(join(root, 'file'), '')
    await expect(fsStore(join(root, 'file')).read('x')).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('tells a denied file', async () => {
    put('closed', 'x')
    chmodSync(join(directory, 'closed'), 0)
    chmodSync(root, 0o755)
    await asOrdinaryUser(async () => {
      expect(await names()).toEqual(['closed'])
      await expect(store.read('closed')).rejects.toMatchObject({ code: 'denied' })
      await expect(store.stat('closed')).rejects.toMatchObject({ code: 'denied' })
    })
  })

  it('gives another etag for other bytes of the same size, and the same for the same', async () => {
    put('f', 'one')
    const first = await store.stat('f')
    expect((await store.read('f'))?.entry).toEqual(first)
    expect((await all(store.list()))[0]).toEqual(first)
    put('f', 'two')
    expect((await store.stat('f'))?.etag).not.toBe(first?.etag)
  })

  it('marks the appearance and the end of files in its revision', () => {
    const empty = fastReads(store)?.revision()
    put('f')
    const one = fastReads(store)?.revision()
    expect(one).not.toBe(empty)
    unlinkSync(join(directory, 'f'))
    expect(fastReads(store)?.revision()).not.toBe(one)
    expect(fastReads(fsStore(join(root, 'none')))?.revision()).toBeNull()
  })
})

describe('fsStore, a file that changes while it is read', () => {
  const size = 5 * 1024 * 1024
  const old = Buffer.alloc(size, 'old text\n')

  async function begin() {
    put('f', old)
    const got = await store.read('f')
    const reader = (got!.body as ReadableStream<Uint8Array>).getReader()
    const first = await reader.read()
    return { reader, chunks: [first.value!] }
  }
  async function finish({ reader, chunks }: Awaited<ReturnType<typeof begin>>) {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return Buffer.concat(chunks)
      chunks.push(value)
    }
  }
  /** A prefix of what was promised, then an error. */
  async function expectCut(read: Awaited<ReturnType<typeof begin>>) {
    await expect(finish(read)).rejects.toMatchObject({ code: 'changed' })
    const got = Buffer.concat(read.chunks)
    expect(got.length).toBeLessThan(size)
    expect(got.equals(old.subarray(0, got.length))).toBe(true)
  }

  it('appended to: what was promised', async () => {
    const read = await begin()
    appendFileSync(join(directory, 'f'), 'more\n')
    expect((await finish(read)).equals(old)).toBe(true)
  })

  it('renamed and replaced: what was promised', async () => {
    const read = await begin()
    renameSync(join(directory, 'f'), join(directory, 'f.1'))
    put('f', Buffer.alloc(size, 'new text\n'))
    expect((await finish(read)).equals(old)).toBe(true)
  })

  it('deleted: what was promised', async () => {
    const read = await begin()
    unlinkSync(join(directory, 'f'))
    expect((await finish(read)).equals(old)).toBe(true)
  })

  it('truncated: a prefix, then an error', async () => {
    const read = await begin()
    truncateSync(join(directory, 'f'), 1000)
    await expectCut(read)
  })

  it('truncated and grown again beyond its old size: a prefix, then an error', async () => {
    const read = await begin()
    put('f', Buffer.alloc(size * 2, 'new text\n'))
    await expectCut(read)
  })

  it('closes its descriptor at the end, on cancel, on abort and on failure', async () => {
    const before = openFiles()
    await finish(await begin())
    const cancelled = await begin()
    await cancelled.reader.cancel()
    const cut = await begin()
    truncateSync(join(directory, 'f'), 0)
    await expect(finish(cut)).rejects.toThrow()
    put('f', old)
    const abort = new AbortController()
    const aborted = await store.read('f', undefined, { signal: abort.signal })
    abort.abort()
    await expect(new Response(aborted!.body).arrayBuffer()).rejects.toThrow()
    await expect.poll(openFiles).toBe(before)
  })
})
