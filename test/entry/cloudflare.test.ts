import { afterEach, describe, expect, it, vi } from 'vitest'
import { handle } from '../../src/entry/cloudflare.ts'
import { memoryStore } from '../../src/store/memory.ts'
import { createApp } from '../support/app.ts'

afterEach(() => vi.restoreAllMocks())

interface Env {
  TOKEN?: string | undefined
}
const logs = memoryStore({ 'a.log': 'one\n' })
const ask = (worker: ReturnType<typeof handle<Env>>, env: Env, token = 't') =>
  worker.fetch(
    new Request('https://node.example/api/v1/log/list', { headers: { Authorization: `Bearer ${token}` } }),
    env,
  )

describe('handle', () => {
  it.each([{}, { TOKEN: undefined }, { TOKEN: '' }, { TOKEN: ' ' }])(
    'serves nothing while %j lacks the secret, and starts once it is there',
    async (env) => {
      const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
      const worker = handle<Env>(({ TOKEN }) => createApp({ logs, config: '', token: TOKEN! }))
      for (const token of ['t', 'undefined', '']) {
        const refused = await ask(worker, env, token)
        expect(refused.status).toBe(503)
        expect(await refused.json()).toMatchObject({ type: '/problems/not-configured' })
      }
      expect(String(errors.mock.calls[0])).toContain('Cannot use the option auth.token')
      expect((await ask(worker, { TOKEN: 't' })).status).toBe(200)
      expect((await ask(worker, { TOKEN: 't' }, 'wrong')).status).toBe(401)
    },
  )
})
