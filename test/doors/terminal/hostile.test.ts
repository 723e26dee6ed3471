import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { printable, type Shown, show } from '../../../src/doors/terminal/output/shown.ts'
import { runTerminal } from '../../../src/doors/terminal/terminal.ts'

/** A clipboard, a title, a cleared screen, a C1 control, a mark of direction, a line of its own. */
const EVIL = '\x1b]52;c;ZXZpbA==\x07\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\r\nforged\t'
const record = (more: object) =>
  JSON.stringify({ time: EVIL, level: EVIL, message: EVIL, tags: [EVIL], context: { [EVIL]: EVIL }, ...more })
const RECORDS = [
  record({ source: { file: EVIL, line: EVIL }, raw: EVIL, file: EVIL, node: EVIL }),
  record({ source: { file: EVIL, line: 1 }, file: EVIL, node: EVIL, late: true, level: '__proto__' }),
  record({ tags: EVIL, level: 7, source: EVIL, time: {}, file: EVIL }),
]
const FILE = { node: EVIL, name: EVIL, size: EVIL, modified: EVIL, kind: EVIL, first: EVIL, last: EVIL }
const STATE = { id: EVIL, node: { version: EVIL }, shipped: EVIL, lag: EVIL, error: null }
const NODES = [
  { ...STATE, errors: EVIL, warnings: EVIL, lastLine: EVIL },
  { ...STATE, errors: {}, warnings: [EVIL], lastLine: 9e15, error: EVIL },
]
const CHANGE = { key: EVIL, before: EVIL, after: EVIL }
const VERSION = { time: EVIL, etag: EVIL, size: 1, changes: [CHANGE] }
const COMPARISON = {
  nodes: [EVIL],
  missing: { [EVIL]: EVIL },
  keys: [{ key: EVIL, values: [{ value: EVIL, nodes: [EVIL] }], expected: false }],
}

const ESC = '\x1b'
const COLORS = new RegExp(`${ESC}\\[[\\d;]*m`, 'g')
const PROGRESS = new RegExp(`\\r(\\S .*|${ESC}\\[K)`, 'g')

/** A node that answers everything with text that would do something to a terminal. */
function answer({ url = '' }: IncomingMessage, response: ServerResponse): unknown {
  const [path, query = ''] = url.split('?')
  const json = (body: unknown, status = 200) => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers })
    response.end(JSON.stringify(body))
  }
  const name = encodeURIComponent(EVIL)
  const headers = { 'X-Nodestate-Note': 'evil-\x9b2J', 'X-Nodestate-Missing': `${name};evil-\x9b2J` }
  if (path!.endsWith('/nodes')) return json(NODES)
  if (path!.endsWith('/history')) return json([VERSION, { ...VERSION, changes: [], error: EVIL, time: 9e15 }])
  if (path!.endsWith('/compare')) return json(COMPARISON)
  if (path!.endsWith('/config')) return json({ config: `a = "${EVIL}"\n# ${EVIL}\n[${EVIL}]\n`, node: {} })
  if (path!.startsWith('/fleet/') && path!.endsWith('/list') && !query.includes('node='))
    return json({ type: '/problems/bad-parameter', detail: 'node is missing' }, 400)
  if (path!.endsWith('/list')) return json([FILE, { ...FILE, first: null, kind: 7 }])
  if (query.includes('file=denied'))
    return json({ type: `/problems/${EVIL}`, title: EVIL, detail: EVIL }, 404)
  if (query.includes('follow=true')) {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', ...headers })
    for (const [i, data] of RECORDS.entries()) response.write(`id: ${i}\ndata: ${data}\n\n`)
    return response.end(`event: rotated\ndata: ${EVIL}\n\n`)
  }
  response.writeHead(200, { 'Content-Type': 'text/plain', ...headers })
  return response.end(query.includes('format=ndjson') ? `${RECORDS.join('\n')}\n` : `${EVIL}\n${EVIL}`)
}

let server: Server
let url: string
beforeAll(async () => {
  server = createServer(answer).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

/** Runs a command on a terminal, and returns all that it wrote. */
async function onTerminal(name: string, positional: string[], given: Record<string, string[]>) {
  const stop = new AbortController()
  let written = ''
  const output = {
    isTTY: true,
    async write(text: string) {
      written += text
      // A follow reconnects for ever.
      if (given.follow && /rotated/.test(written)) stop.abort()
      return true
    },
  }
  const world = { env: {}, stdout: output, stderr: output, readFile: async () => '', signal: stop.signal }
  const line = { positional, flags: new Map(Object.entries(given)) }
  const code = await runTerminal(name, line, world)
  return { code, written }
}

const COMMANDS: [name: string, positional: string[], flags?: Record<string, string[]>][] = [
  ['ls', ['URL']],
  ['ls', ['URL'], { names: [''] }],
  ['ls', ['URL'], { time: ['utc'] }],
  ['ls', ['URL'], { node: ['*'] }],
  ['ls', ['URL'], { json: [''] }],
  ['ls', ['URL/fleet']],
  ['ls', ['URL/fleet', 'URL'], { time: ['local'] }],
  ['ls', ['URL/fleet'], { json: [''] }],
  ['tail', ['URL', 'a.log']],
  ['tail', ['URL', 'a.log', 'b.log']],
  ['tail', ['URL', 'a.log'], { time: ['utc'] }],
  ['tail', ['URL', 'a.log'], { json: [''] }],
  ['tail', ['URL', 'a.log'], { grep: ['owned'] }],
  ['tail', ['URL', 'URL', 'a.log']],
  ['tail', ['URL', 'denied']],
  ['tail', ['URL', 'a.log'], { follow: [''] }],
  ['tail', ['URL', 'a.log'], { follow: [''], json: [''] }],
  ['tail', ['URL', '*.log'], { node: ['*'] }],
  ['grep', ['owned', 'URL', 'a.log']],
  ['grep', ['owned', 'URL']],
  ['grep', ['owned', 'URL', 'a.log'], { count: [''] }],
  ['grep', ['owned', 'URL'], { 'files-with-matches': [''] }],
  ['grep', ['owned', 'URL', 'denied']],
  ['grep', ['owned', 'URL'], { json: [''] }],
  ['config', ['URL']],
  ['config', ['URL', 'URL']],
  ['config', ['URL'], { json: [''] }],
  ['config', ['URL'], { history: [''] }],
  ['config', ['URL'], { history: [''], time: ['local'] }],
  ['config', ['URL'], { compare: ['*'] }],
  ['config', ['URL'], { compare: ['*'], json: [''] }],
  ['completion', ['bash']],
]

describe('a hostile node does nothing to a terminal', () => {
  const cases = COMMANDS.flatMap(([name, args, flags = {}]) =>
    ['never', 'always'].map((color) => [name, args, { ...flags, color: [color] }] as const),
  )
  it.each(cases)('%s %j %j', async (name, args, flags) => {
    const here = (text: string) => text.replace('URL', url)
    const own = Object.fromEntries(Object.entries(flags).map(([flag, values]) => [flag, values.map(here)]))
    const { code, written } = await onTerminal(name, args.map(here), own)
    // Our own: colors where they are wanted, and the line of progress.
    const colors = flags.color[0] === 'always' ? COLORS : /^$/g
    const left = written.replace(colors, '').replace(PROGRESS, '')
    expect(left).not.toMatch(/[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u)
    expect(left).not.toContain('Cannot go on')
    expect(code).toBeLessThanOrEqual(2)
    if (name !== 'completion') expect(left).toMatch(/owned|evil/)
  })
})

describe('text for the outputs', () => {
  it('is made by one file', () => {
    const files = readdirSync('src/doors/terminal', { recursive: true, encoding: 'utf8' })
    const makers = files.filter(
      (file) => file.endsWith('.ts') && /\bas (?:unknown as )?(?:Shown|Escaped|never|any)\b/.test(read(file)),
    )
    expect(makers).toEqual(['output/shown.ts'])
    const writers = files.filter((file) => file.endsWith('.ts') && /console\.|process\./.test(read(file)))
    expect(writers).toEqual([])
  })

  it('cannot be raw text', () => {
    const raw = 'from a node' as string
    const escaped = printable(raw)
    const shown: Shown = escaped
    // @ts-expect-error: a text from anywhere
    const wrong: Shown = raw
    // @ts-expect-error: a template with a text from anywhere
    show`${raw}`
    expect([show`a ${shown}`, wrong]).toEqual(['a from a node', raw])
  })

  const read = (file: string) => readFileSync(`src/doors/terminal/${file}`, 'utf8')
})
