/** What the documents show of each answer. */

export const NODE = {
  hostIp: '192.0.2.4',
  hostName: 'db-4',
  grpcPort: 2891,
  httpPort: 3000,
  version: '0.4.1',
  onlineTime: 1_794_708_600_000,
}
export const CONFIG_VERSION = {
  time: 1_794_708_600_000,
  etag: '"1k-9pyyrt1wsdxe"',
  size: 56,
  changes: [{ key: 'query.max-workers', before: '30', after: '64' }],
}
export const CONFIG_COMPARISON = {
  nodes: ['db-1', 'db-2', 'db-7'],
  missing: { 'db-9': 'no-config' },
  keys: [
    {
      key: 'query.concurrency',
      values: [
        { value: '16', nodes: ['db-1', 'db-2'] },
        { value: '64', nodes: ['db-7'] },
      ],
      expected: false,
    },
  ],
}
export const CONFIG_BLAME = {
  complete: true,
  keys: [
    {
      key: 'query.concurrency',
      value: '64',
      changed: 1_794_708_600_000,
      before: '16',
      errors: { before: 12, after: 230 },
      others: [{ value: '16', nodes: ['db-1', 'db-2'] }],
    },
    { key: 'query.timeout', value: '"30s"', changed: null },
  ],
}
export const FLEET_NODE = {
  id: 'db-4',
  node: NODE,
  described: true,
  shipped: '2026-11-15T02:10:00.123Z',
  age: 12,
  lag: 0,
  errors: 3,
  warnings: 12,
  lastLine: 1_794_708_600_000,
  day: { from: 1_794_622_500_000, step: 900_000, errors: [0, 3], warnings: [12, null] },
  error: null,
}
export const LINE =
  '2026-11-15 02:10:00.123\tINFO\tquery/broker.go:12\t[Broker] [Query]: request 7 took 12 ms\t{"shard":3}\n'
export const RECORD = {
  time: '2026-11-15T02:10:00.123Z',
  level: 'info',
  source: { file: 'query/broker.go', line: 12 },
  tags: ['Broker', 'Query'],
  message: 'request 7 took 12 ms',
  context: { shard: 3 },
}
export const ROWS = 'time,level,message\r\n2026-11-15T02:10:00.123Z,info,request 7 took 12 ms\r\n'
export const HISTOGRAM = {
  from: 1_794_708_600_000,
  to: 1_794_708_660_000,
  step: 60_000,
  complete: true,
  levels: ['debug', 'info', 'warn', 'error', 'fatal', 'none'],
  buckets: [{ time: 1_794_708_600_000, counts: [0, 12, 0, 1, 0, 0] }],
}
const PATTERN = {
  pattern: 'slow query took <*>',
  count: 300,
  level: 'warn',
  first: '2026-11-15T01:10:00.000Z',
  last: '2026-11-15T01:15:00.000Z',
  example: 'slow query took 1204ms',
  over: Array.from({ length: 24 }, (_, part) => (part < 20 ? 15 : 0)),
}
export const FIELDS = {
  records: 300,
  sampled: false,
  complete: true,
  fields: [
    { name: 'level', count: 300, values: [{ value: 'warn', count: 300 }] },
    {
      name: 'took',
      count: 120,
      values: [{ value: '1.5s', count: 80 }],
      numbers: { count: 120, min: 1200, median: 1500, p95: 2900, max: 3000, unit: 'ms' },
    },
  ],
  patterns: [PATTERN],
}
export const GROUPS = {
  by: 'path',
  of: 'duration',
  unit: 'ms',
  records: 120,
  complete: true,
  groups: [{ value: '/api/login', count: 80, errors: 3, min: 1.2, median: 14, p95: 1900, max: 2100 }],
  other: { count: 40, errors: 0 },
}

export const COMPARISON = {
  range: { from: 1_794_708_600_000, to: 1_794_712_200_000, records: 1834 },
  base: { from: 1_794_705_000_000, to: 1_794_708_600_000, records: 1786 },
  complete: true,
  findings: [
    {
      kind: 'pattern',
      what: 'disk full on <*>',
      count: 20,
      base: 0,
      example: 'disk full on sda1',
      query: 'file=broker.log&since=2026-11-15T02%3A10%3A00.000Z&until=2026-11-15T03%3A10%3A00.000Z&q=disk',
    },
  ],
}
