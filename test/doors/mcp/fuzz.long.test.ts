import fc from 'fast-check'
import { expect, it } from 'vitest'
import { mcp } from '../../../src/doors/mcp.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { createFleet } from '../../support/app.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { answered, ERAS, type ListedTool, messageOf, toolsOf } from '../../support/mcp.ts'
import { NODE_JSON } from '../../support/node.ts'

const line = (second: number, text: string) =>
  `2026-11-16 02:41:${String(second).padStart(2, '0')}.000\tINFO\ta.go:1\t[A]: ${text}\n`
const store = memoryStore({
  'db-4/node.json': NODE_JSON,
  'db-4/config.toml': 'a = 1\n',
  'db-4/logs/broker.log': Array.from({ length: 50 }, (_, i) =>
    line(i, `record ${i} \x1b[31m\u202e ${'x'.repeat(i * 30)}`),
  ).join(''),
  'db-7/node.json': NODE_JSON,
  'db-7/config.toml': 'a = 2\n',
  'db-7/logs/notes.txt': 'no times\n',
})
const failures: unknown[] = []
const app = createFleet({
  store,
  mcp,
  clock: manualClock(Date.UTC(2026, 10, 16, 3)),
  onError: (error) => void failures.push(error),
})
const send = (request: Request) => app.fetch(request)

/** Values that are nearly right for a parameter, and any others. */
function valueFor(property: { type?: string; enum?: string[] }) {
  const texts = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.constantFrom(
      '',
      '*',
      '1h',
      '2026-11-16',
      'yesterday 2:00',
      'broker.log',
      'db-*',
      'error',
      '=warn',
      'a:1',
      'a~*',
      '{1,2,3,4}'.repeat(6),
      'a>1',
      '(',
      '\0',
      '../x',
      'older:x',
      'newer:',
      '7',
      '-1',
      '2262-04-11',
    ),
    fc.string({ minLength: 900, maxLength: 5000 }),
  )
  const near = property.enum ? fc.constantFrom(...property.enum) : texts
  const numbers = fc.oneof(
    fc.integer({ min: -5, max: 300 }),
    fc.double(),
    fc.constantFrom(1e300, Number.MAX_SAFE_INTEGER),
  )
  return fc.oneof(
    { weight: 3, arbitrary: near },
    { weight: 3, arbitrary: property.type === 'array' ? fc.array(near, { maxLength: 40 }) : numbers },
    fc.oneof(fc.boolean(), fc.constant(null), fc.jsonValue({ maxDepth: 3 })),
  )
}

const argumentsOf = ({ inputSchema: { properties } }: ListedTool) =>
  fc.record(
    Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, valueFor(property)])),
    {
      requiredKeys: [],
    },
  )

it.each(ERAS)(
  'property: arguments of any kind never fail the service, and answers keep their budget (%s)',
  async (era) => {
    const tools = await toolsOf(send, { era }).list()
    const calls = fc.oneof(
      ...tools.map((tool) => argumentsOf(tool).map((args) => ({ name: tool.name, args }))),
    )
    await fc.assert(
      fc.asyncProperty(calls, async ({ name, args }) => {
        const message = messageOf('http://localhost/mcp', 'tools/call', { name, arguments: args }, { era })
        const tooLarge = (await message.clone().arrayBuffer()).byteLength > 64 * 1024
        const response = await send(message)
        expect(response.status).toBe(tooLarge ? 413 : 200)
        if (tooLarge) return
        const { result, error } = await answered(response)
        expect(error).toBeUndefined()
        const text = result!.content!.map((part) => part.text).join('')
        expect(text).not.toMatch(/undefined|\[object|NaN|^$/)
        expect(text.length).toBeLessThanOrEqual(40_000)
        expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
        expect(failures).toEqual([])
      }),
      { numRuns: 300 },
    )
  },
)

it('property: messages of any kind never fail the service', async () => {
  const message = fc.oneof(
    fc.jsonValue(),
    fc.record({
      jsonrpc: fc.constantFrom('2.0', '1.0', 2),
      id: fc.oneof(fc.integer(), fc.string(), fc.constant(null)),
      method: fc.oneof(
        fc.constantFrom(
          'tools/list',
          'tools/call',
          'initialize',
          'ping',
          'server/discover',
          'subscriptions/listen',
        ),
        fc.string(),
      ),
      params: fc.jsonValue(),
    }),
  )
  const header = fc.constantFrom('2026-07-28', '2025-11-25', '1999-01-01', 'x')
  await fc.assert(
    fc.asyncProperty(message, header, async (body, version) => {
      const response = await app.request('http://localhost/mcp', {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
          'MCP-Protocol-Version': version,
          'Mcp-Method': 'tools/call',
        },
        body: JSON.stringify(body),
      })
      expect(response.status).toBeLessThan(500)
      await response.text()
      expect(failures).toEqual([])
    }),
    { numRuns: 300 },
  )
})
