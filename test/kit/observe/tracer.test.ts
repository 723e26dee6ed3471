import { expect, it } from 'vitest'
import type { Tracer } from '../../../src/kit/observe/tracer.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { StoreError } from '../../../src/store/store.ts'
import { createApp } from '../../support/app.ts'

function recorder() {
  const spans: { name: string; attributes: Record<string, unknown>; code: number; ended: number }[] = []
  const tracer: Tracer = {
    startSpan(name, { attributes }) {
      const span = { name, attributes: { ...attributes } as Record<string, unknown>, code: 0, ended: 0 }
      spans.push(span)
      return {
        setAttribute: (key, value) => {
          span.attributes[key] = value
        },
        setStatus: ({ code }) => {
          span.code = code
        },
        end: () => {
          span.ended++
        },
      }
    },
  }
  return { spans, tracer }
}

it('opens one span for each request, and ends it with the last byte', async () => {
  const { spans, tracer } = recorder()
  const app = createApp({
    logs: memoryStore({ 'a.log': 'one\n'.repeat(200_000) }),
    config: '',
    observe: tracer,
  })
  const answer = await app.request('/api/v1/log/view?file=a.log&q=one&size=800000')
  expect(spans.map(({ ended }) => ended)).toEqual([0])
  await answer.text()
  expect(spans).toEqual([
    {
      name: 'GET /api/v1/log/view',
      attributes: {
        'http.request.method': 'GET',
        'http.route': '/api/v1/log/view',
        'url.path': '/api/v1/log/view',
        'http.response.status_code': 200,
      },
      code: 0,
      ended: 1,
    },
  ])
})

it('marks a failure of the service as an error, and a mistake of the client as none', async () => {
  const { spans, tracer } = recorder()
  const failing = {
    ...memoryStore({}),
    stat: () => Promise.reject(new StoreError('denied', 'x')),
    read: () => Promise.reject(new StoreError('denied', 'x')),
  }
  const app = createApp({ logs: failing, config: 'a = = 1', observe: tracer, onError() {} })
  await app.request('/api/v1/config')
  await app.request('/api/v1/log/view?file=')
  expect(
    spans.map(({ code, ended, attributes }) => [attributes['http.response.status_code'], code, ended]),
  ).toEqual([
    [500, 2, 1],
    [400, 0, 1],
  ])
})
