import { describe, expect, it } from 'vitest'
import { type LambdaEvent, toRequest } from '../../../src/entry/lambda/event.ts'

const v1 = (path: string, rest: object): LambdaEvent => ({
  httpMethod: 'GET',
  path,
  requestContext: { domainName: 'logs.example', stage: 'prod' },
  ...rest,
})
const v2 = (rawPath: string, rest: object): LambdaEvent => ({
  rawPath,
  rawQueryString: '',
  requestContext: { domainName: 'logs.example', stage: '$default', http: { method: 'GET' } },
  ...rest,
})
const pathOf = (event: LambdaEvent) => new URL(toRequest(event).url).pathname

describe('the base path of a custom domain or a route is not part of the path', () => {
  it.each([
    [
      v1('/db-4/api/v1/log/list', { resource: '/{proxy+}', pathParameters: { proxy: 'api/v1/log/list' } }),
      '/api/v1/log/list',
    ],
    [
      v1('/api/v1/log/list', { resource: '/{proxy+}', pathParameters: { proxy: 'api/v1/log/list' } }),
      '/api/v1/log/list',
    ],
    [v1('/db-4', { resource: '/' }), '/'],
    [v1('/db-4/', { resource: '/', pathParameters: null }), '/'],
    [v2('/a/b/api/v1/config', { pathParameters: { proxy: 'api/v1/config' } }), '/api/v1/config'],
    [v2('/base/assets/a%20b.js', { pathParameters: { proxy: 'assets/a b.js' } }), '/assets/a%20b.js'],
    [v2('/api/v1/config', {}), '/api/v1/config'],
    [v2('/odd/api/v1/config', { pathParameters: { proxy: 'something/else/here' } }), '/odd/api/v1/config'],
  ])('%#', (event, path) => {
    expect(pathOf(event)).toBe(path)
  })
})
