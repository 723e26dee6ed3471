import { describe, expect, it } from 'vitest'
import { requestIdOf } from '../../../src/kit/observe/request-id.ts'

const idOf = (headers: Record<string, string>) => {
  const given = new Headers(headers)
  return requestIdOf((name) => given.get(name))
}

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = `00-${TRACE}-00f067aa0ba902b7-01`

describe('requestIdOf', () => {
  it.each([
    [{ 'X-Request-Id': 'abc-123' }, 'abc-123', null],
    [{ 'X-Request-Id': 'abc', traceparent: PARENT }, 'abc', PARENT],
    [{ traceparent: PARENT }, TRACE, PARENT],
    [{ 'X-Request-Id': 'a b\tc', traceparent: PARENT }, TRACE, PARENT],
  ])('%j', (headers, id, traceparent) => {
    expect(idOf(headers as Record<string, string>)).toEqual({ id, traceparent })
  })

  it.each([
    {},
    { 'X-Request-Id': '' },
    { 'X-Request-Id': 'x'.repeat(129) },
    { 'X-Request-Id': '"quoted"' },
    { traceparent: 'nonsense' },
    { traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01` },
    { traceparent: `ff-${TRACE}-00f067aa0ba902b7-01` },
  ])('is a new one for %j', (headers) => {
    const { id, traceparent } = idOf(headers as Record<string, string>)
    expect(id).toMatch(/^[\da-f]{8}-[\da-f-]{27}$/)
    expect(traceparent).toBeNull()
  })
})
