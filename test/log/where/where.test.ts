import { describe, expect, it } from 'vitest'
import { nodeWith } from '../../support/records.ts'

/** Whether a log of one record has it in a page with this condition. */
async function passes(record: string, where: string): Promise<boolean> {
  const answer = await nodeWith(`${record}\n`, { modified: Date.UTC(2026, 10, 15, 12) }).request(
    `/api/v1/log/view?file=a.log&where=${encodeURIComponent(where)}`,
  )
  const text = await answer.text()
  expect(answer.status, text).toBe(200)
  if (text !== '') expect(text).toBe(`${record}\n`)
  return text !== ''
}

const JSON_LINE =
  '{"time":"2026-11-15T02:10:00.123Z","level":"WARNING","logger":"raft","caller":"a/b.go:12","msg":"say \\"hi\\"","shard":17,"ratio":1.50,"big":12345678901234567890,"ok":true,"none":null,"a":{"b":{"c":"x y"}},"d.e":"dotted","level.note":"n","city":"K\\u00f6ln","größe":"groß","path":"\\/var\\/x","list":[1,2]}'
const LINE_24 =
  '2026-11-15 02:10:00.123\tERROR\tbroker/runtime.go:123\t[Broker] [Runtime]: failed: badly\t{"shard":17,"level":"low","message":"inner","o":{"p":"q"}}'
const LOGFMT = 'time=2026-11-15T02:10:00.123Z level=warn logger=raft msg="hi there" shard=17 user="a b"'

describe.each<[name: string, record: string, yes: string[], no: string[]]>([
  [
    'a JSON line',
    JSON_LINE,
    [
      'shard:17',
      'ratio:1.50',
      'big:12345678901234567890',
      'ok:true',
      'none:null',
      'a.b.c:x y',
      'a.b:*',
      'd.e:dotted',
      'level.note:n',
      'city:Köln',
      'größe:groß',
      'path:/var/x',
      'level:warn',
      'level:WARNING',
      'level:warning',
      'message:say "hi"',
      'source:a/b.go:12',
      'source:a/b.go',
      'tag:raft',
      'logger:raft',
      'shard:*',
      'source:*',
      '!shard:18',
      '!nothing:1',
      '!nothing:*',
      'list:[1,2]',
    ],
    [
      'shard:1',
      'shard:018',
      'ratio:1.5',
      'nothing:1',
      'nothing:*',
      '!shard:17',
      '!shard:*',
      'a.b.c:x',
      'b.c:x y',
      'level:warnx',
      'level:error',
      'message:say',
      'source:b.go',
      'Shard:17',
      'constructor:*',
      'toString:*',
    ],
  ],
  [
    'a LinDB line, whose own members win over its context',
    LINE_24,
    [
      'shard:17',
      'o.p:q',
      'level:error',
      'level:ERROR',
      'message:failed: badly',
      'source:broker/runtime.go:123',
      'source:broker/runtime.go',
      'tag:Broker',
      'tag:Runtime',
      'logger:Broker',
      '!level:low',
      '!message:inner',
      'o:*',
    ],
    ['level:low', 'message:inner', 'tag:Broker] [Runtime', 'p:q', '!tag:Broker'],
  ],
  [
    'logfmt',
    LOGFMT,
    ['shard:17', 'user:a b', 'message:hi there', 'level:warn', 'tag:raft', '!user:a'],
    ['user:a', 'shard:*x', 'source:*'],
  ],
  [
    'a record with its trace, and the context at the end of the message',
    '2026-11-15 02:10:00.123\tERROR\ta.go:1\t[A]: first\nsecond\t{"shard":17}',
    ['shard:17', 'message:first\nsecond'],
    ['message:first'],
  ],
  [
    'PostgreSQL csvlog',
    '2026-11-15 12:34:18.626 CET,"bob","shop",11043,"[local]",6a.2b,2,"SELECT",2026-11-15 12:34:18 CET,3/4,0,ERROR,22012,"division by zero",,,,,,"select 1/0",,,"psql","client backend",,0',
    [
      'user:bob',
      'db:shop',
      'pid:11043',
      'client:[local]',
      'pid>11042',
      'user_name:bob',
      'database_name:*',
      'sql_state_code:22012',
      'level:error',
      '!database_name:other',
    ],
    ['user_name:alice', 'hint:*', 'db:other'],
  ],
  [
    'an access log',
    '10.0.0.7 - bob [15/Nov/2026:03:10:00 +0100] "GET /a?b=1 HTTP/1.1" 503 612 "-" "curl/7.88.1" 1.250',
    [
      'status:503',
      'status>=500',
      'status<=503',
      'status>502.5',
      '!status<500',
      'duration>1000',
      'duration:1250',
      'duration:1250.0',
      'duration>1.2s',
      'duration<=1250ms',
      'duration<1m',
      'duration>0.00034h',
      'bytes<1KB',
      'bytes<1KiB',
      'bytes>=612B',
      'client:10.0.0.7',
      'user:*',
      'query:b=1',
      'level:error',
      'method:*',
      '!referrer:*',
    ],
    [
      'status>503',
      'status<503',
      'status>1s',
      'duration>1251',
      'duration>1.3s',
      'bytes>1KB',
      'client<5',
      '!status>=500',
    ],
  ],
  [
    'pairs in the message of a text format',
    '2026-11-15 02:10:00,123 WARN [main] a.B - slow took=1.5s, size=12MB (shard=20) user="a b" n=1e3 panic: x, q==1 --opt=2 /x?y=1',
    [
      'took:1.5s',
      'took>1s',
      'took>1499ms',
      'took<1m30s',
      'size>10MB',
      'size<=12000000',
      'size>10MiB',
      'shard:20',
      'shard>19',
      'user:a b',
      'n>999',
      'thread:main',
      'logger:a.B',
      '!panic:*',
      '!y:*',
      '!opt:*',
      '!q:*',
    ],
    ['took>1', 'took>1.5s', 'took>10MB', 'shard>1s', 'user>1', 'size>10s', 'nothing>1', 'shard>20'],
  ],
  [
    'a pair in a LinDB line, below its context',
    '2026-11-15 02:10:00.123\tERROR\ta.go:1\t[A]: failed shard=18 cost=12ms\t{"shard":17}',
    ['shard:17', 'cost>11ms', 'shard<18'],
    ['shard:18', 'shard>17'],
  ],
  ['a pair in plain text', 'started in took=12ms', ['took:12ms', 'took>=12ms'], ['took>12ms']],
  [
    'a member of a JSON line, compared',
    JSON_LINE,
    ['shard>16', 'ratio>=1.5', 'big>1', '!shard>17', 'a.b.c:x y'],
    ['shard>17', 'ok>0', 'none>=0', 'list>0', 'a.b.c>1'],
  ],
  [
    'a line inside Docker’s',
    '{"log":"{\\"level\\":\\"info\\",\\"ts\\":1794708600,\\"msg\\":\\"hi\\",\\"shard\\":17}\\n","stream":"stdout","time":"2026-11-15T02:10:00Z"}',
    ['shard:17', 'level:info', 'message:hi', '!stream:stdout'],
    ['stream:*', 'log:*'],
  ],
])('%s', (_name, record, yes, no) => {
  it.each(yes)('has %s', async (where) => expect(await passes(record, where)).toBe(true))
  it.each(no)('does not have %s', async (where) => expect(await passes(record, where)).toBe(false))
})

describe.each<[name: string, record: string, yes: string[], no: string[]]>([
  [
    'a JSON line',
    JSON_LINE,
    [
      'path~/var/*',
      'path~*',
      'path~*/x',
      'path~/v?r/?',
      '!path~/api/*',
      '!nothing~*',
      'city~K?ln',
      'city~*öln',
      'größe~gr*',
      'a.b.c~x*',
      'a.b.c~x y',
      'big~123*890',
      'shard~1?',
      'level~warn*',
      'level~WARN*',
      'message~say*hi*',
      'message~*"hi"',
      'source~a/*:12',
      'tag~ra*',
      'list~[*]',
    ],
    [
      'path~/var',
      'path~var/*',
      'path~/var/',
      'path~/var/??',
      '!path~*',
      'nothing~*',
      'city~k*',
      'a.b.c~x?',
      'shard~17.0',
      'level~err*',
      'path~.var.x',
      'path~/va[r]/x',
    ],
  ],
  [
    'an access log',
    '10.0.0.7 - bob [15/Nov/2026:03:10:00 +0100] "GET /api/a>=3~b:c?b=1 HTTP/1.1" 503 612 "-" "curl/7.88.1" 1.250',
    [
      'path~/api/*',
      'path~/api/a>=3~b:c',
      'path~*~b:?',
      'path:/api/a>=3~b:c',
      'client~10.0.*',
      '!client~192.*',
      'user~b?b',
      'duration~125*',
      'status~5??',
    ],
    ['path~/API/*', 'path~/api', '!client~10.*', 'user~b??b', 'status~4??'],
  ],
  [
    'a message of several lines',
    '2026-11-15 02:10:00.123\tERROR\ta.go:1\t[A]: first\nsecond\t{"ratio":3.10,"n":1E2}',
    ['message~first*', 'message~first?second', 'message~*second', 'ratio~3.1*', 'n~1E*'],
    ['message~first', 'message~second*'],
  ],
])('a pattern over a value of %s', (_name, record, yes, no) => {
  it.each(yes)('has %s', async (where) => expect(await passes(record, where)).toBe(true))
  it.each(no)('does not have %s', async (where) => expect(await passes(record, where)).toBe(false))
})

it('a pattern takes linear time, however many stars it has', async () => {
  const line = { time: '2026-11-15T02:10:00Z', level: 'info', msg: 'b', key: 'a'.repeat(1_000_000) }
  expect(await passes(JSON.stringify(line), `key~${'*a'.repeat(60)}*b`)).toBe(false)
})

it.each([
  'shard',
  ':17',
  '!:17',
  '',
  '!',
  'a>',
  'a>b',
  '>5',
  '!>5',
  'a>5 bananas',
  'a>=',
  'a>1s2',
  '~x',
  '!~x',
])('%j is no condition', async (text) => {
  const answer = await nodeWith(`${JSON_LINE}\n`).request(
    `/api/v1/log/view?file=a.log&where=${encodeURIComponent(text)}`,
  )
  expect(answer.status).toBe(400)
})
