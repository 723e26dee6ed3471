import { all, check, codeOf, equal, textOf } from './assert.ts'
import type { Suite } from './suite.ts'

const HOSTILE_KEYS = [
  'with space.log',
  ' leading and trailing ',
  'plus+plus.log',
  'percent%41%.log',
  'a%2Fb.log',
  'amp&amp;.log',
  'less<than>.log',
  "quote'single.log",
  'quote"double.log',
  'semi;colon.log',
  'equals=.log',
  'question?.log',
  'hash#.log',
  "(brackets)[]{}!*'.log",
  'back\\slash.log',
  'colon:at@comma,dollar$.log',
  'tilde~caret^pipe|tick`.log',
  '..log',
  '...',
  '-dash.log',
  'tab\there.log',
  'caf\u00e9.log',
  'cafe\u0301.log',
  'Übergröße-日志.log',
  'emoji-😀👩‍💻.log',
  'right\u202eto-left.log',
  `${'n'.repeat(250)}.log`,
]
const NOT_KEYS = [
  '',
  '/',
  '/absent',
  '.',
  '..',
  '../order-a',
  'x/../order-a',
  './order-a',
  '\ud800',
  'x'.repeat(1100),
]

export function statTests({ it, put, subject }: Suite): void {
  it('gives null for what does not exist', async () => {
    const { store } = subject()
    equal(await store.stat('absent'), null, 'stat')
    for (const range of [undefined, { suffix: 0 }, { suffix: 10 }])
      equal(await store.read('absent', range), null, `read ${JSON.stringify(range)}`)
  })

  for (const key of NOT_KEYS)
    it(`gives null for ${shortened(key)}, which is no key`, async () => {
      equal(await subject().store.stat(key), null, 'stat')
      equal(await subject().store.read(key), null, 'read')
    })

  it('shows what happens to a file', async () => {
    const { store, remove } = subject()
    await put('comes-and-goes', 'one')
    equal((await store.stat('comes-and-goes'))?.size, 3, 'the size')
    await remove('comes-and-goes')
    equal(await store.stat('comes-and-goes'), null, 'stat after the file was removed')
    equal(await store.read('comes-and-goes'), null, 'read after the file was removed')
  })

  it('gives another etag whenever the bytes change, even if the size does not', async () => {
    await put('tagged', 'aaaa')
    const first = await subject().store.stat('tagged')
    await put('tagged', 'bbbb')
    const second = await subject().store.stat('tagged')
    for (const etag of [first?.etag, second?.etag])
      check(/^"[^"]+"$/.test(etag ?? ''), `an etag is quoted and not empty: ${etag}`)
    check(first?.etag !== second?.etag, 'the etags differ')
    const age = Date.now() - (second?.modified ?? 0)
    check(Math.abs(age) < 60_000, `\`modified\` is in milliseconds since 1970: it is ${age} ms ago`)
  })
}

/** Keys are data: no character in them means anything, but the slash in a shallow list. */
export function keyTests({ it, put, subject, exceptions }: Suite): void {
  for (const name of HOSTILE_KEYS)
    it(`${shortened(name)} is listed, found and read`, async () => {
      const { store, remove } = subject()
      const key = `k${name}`
      const why = exceptions.notKeys?.[name]
      if (why) {
        equal(await store.stat(key), null, why)
        equal(await store.read(key), null, why)
        return
      }
      const text = `text of ${name}`
      await put(key, text)
      const listed = (await all(store.list(key))).find((entry) => entry.key === key)
      equal(listed?.size, new TextEncoder().encode(text).length, 'the size in the list')
      equal(await store.stat(key), listed, 'stat, which is the entry of the list')
      const read = await store.read(key, { suffix: 1_000 })
      equal(read?.entry, listed, 'the entry of a read, which is the entry of the list')
      equal(await textOf(read), text, 'the text')
      await remove(key)
      equal(await store.stat(key), null, 'stat after the file was removed')
    })

  it('that differ only in their Unicode form are two files', async () => {
    const { store } = subject()
    await put('nf-caf\u00e9', 'composed')
    await put('nf-cafe\u0301', 'decomposed!')
    equal((await store.stat('nf-caf\u00e9'))?.size, 8, 'the size of the composed form')
    equal((await store.stat('nf-cafe\u0301'))?.size, 11, 'the size of the decomposed form')
    const keys = (await all(store.list('nf-'))).map((entry) => entry.key)
    equal(keys, ['nf-cafe\u0301', 'nf-caf\u00e9'], 'the keys')
  })
}

/** A store whose place does not exist. */
export function nowhereTest({ it, subject, exceptions }: Suite): void {
  it('is unavailable, not empty, where its place does not exist', async (context) => {
    const { nowhere } = subject()
    if (!nowhere) return void context.skip(exceptions.alwaysThere ?? 'setup() gave no `nowhere`')
    equal(await codeOf(all(nowhere.list())), 'unavailable', 'list')
    equal(await codeOf(nowhere.stat('x')), 'unavailable', 'stat')
    equal(await codeOf(nowhere.read('x', { suffix: 10 })), 'unavailable', 'read')
    equal(await codeOf(nowhere.read('x', { suffix: 0 })), 'unavailable', 'read of nothing')
  })
}

function shortened(key: string): string {
  const text = JSON.stringify(key)
  return text.length > 60 ? `${text.slice(0, 20)}… (${key.length} characters)` : text
}
