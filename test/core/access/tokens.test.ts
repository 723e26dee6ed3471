import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { makeToken } from '../../../src/core/access/make.ts'
import { parseTokens } from '../../../src/core/access/tokens.ts'

const SECRET = 'hunter2-hunter2-hunter2'
const table = (more: string, name = 'a', token = SECRET) =>
  `[[tokens]]\nname = "${name}"\ntoken = "${token}"\n${more}\n`

describe('a tokens file', () => {
  it('names tokens, scopes, files and nodes', () => {
    const hash = `sha256:${'A1'.repeat(32)}`
    expect(
      parseTokens(
        `${table('')}${table('scopes = ["logs", "metrics"]\nfiles = ["broker*.log", "x.{a,b}"]\nnodes = ["db-*"]', 'Grafana (ops)', hash)}`,
      ),
    ).toEqual([
      { name: 'a', token: SECRET },
      {
        name: 'Grafana (ops)',
        token: hash.toLowerCase(),
        scopes: ['logs', 'metrics'],
        files: ['broker*.log', 'x.{a,b}'],
        nodes: ['db-*'],
      },
    ])
  })

  it.each([
    ['', 'It has no tokens'],
    ['# nothing', 'It has no tokens'],
    ['tokens = []', 'It has no tokens'],
    [`tokens = ["${SECRET}"]`, 'In token 1, expected a table'],
    [`token = "${SECRET}"`, 'It may only have [[tokens]] tables'],
    [`[[token]]\nname = "a"\ntoken = "${SECRET}"`, 'It may only have [[tokens]] tables'],
    [`[[tokens]]\ntoken = ${SECRET}`, 'It is not valid TOML at line 2'],
    [`[[tokens]]\ntoken = "${SECRET}"`, 'In token 1, the name'],
    ['[[tokens]]\nname = "a"', 'In token 1, the token'],
    [table('', 'a', ''), 'In token 1, the token'],
    [table('', 'a', `${SECRET} `), 'In token 1, the token'],
    [table('', 'a', 'sha256:abc'), 'In token 1, the token'],
    [table('', 'a\\u0007'), 'In token 1, the name'],
    [table('') + table('', 'b'), 'Two tokens have the same token'],
    [table('') + table('', 'a', 'other'), 'Two tokens have the same name'],
    [table('scopes = ["log"]'), 'In token 1, scopes must be a list of config, logs, metrics'],
    [table('scopes = "logs"'), 'In token 1, scopes'],
    [table('files = "broker.log"'), 'In token 1, files'],
    [table('files = [""]'), 'In token 1, files'],
    [table('files = [1]'), 'In token 1, files'],
    [table('nodes = "db-1"'), 'In token 1, nodes must be a list of shell patterns such as "db-*"'],
    [table('nodes = [""]'), 'In token 1, nodes'],
    [table(`files = ["${'{a,b}'.repeat(20)}"]`), 'In token 1, the braces'],
    [table('file = ["broker.log"]'), 'In token 1, there is an unknown key'],
  ])('is refused when it says %j, without a word of it', (text, sentence) => {
    expect(() => parseTokens(text)).toThrow(sentence)
    try {
      parseTokens(text)
    } catch (error) {
      expect(String(error)).not.toContain('hunter2')
      expect((error as Error).cause).toBeUndefined()
    }
  })
})

it('a new token is long, random and known by its digest', async () => {
  const [one, two] = [await makeToken(), await makeToken()]
  expect(one.token).toMatch(/^[\w-]{43}$/)
  expect(one.token).not.toBe(two.token)
  expect(one.digest).toBe(`sha256:${createHash('sha256').update(one.token).digest('hex')}`)
})
