import { expect, it } from 'vitest'
import { mcp } from '../../../../src/doors/mcp.ts'
import { memoryStore } from '../../../../src/store/memory.ts'
import { createApp } from '../../../support/app.ts'
import { toolsOf } from '../../../support/mcp.ts'

const app = createApp({ logs: memoryStore({ 'a.log': 'x\n', 'b.log': 'y\n' }), config: 'a = 1\n', mcp })
const tools = toolsOf((request) => app.fetch(request))

it.each(['x', '-1', '1.5', '1e3', ' 1'])('list_logs refuses the cursor %j', async (cursor) => {
  await expect(tools.call('list_logs', { cursor })).rejects.toThrow(/cursor.*earlier answer/)
})
