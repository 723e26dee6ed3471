/** How much of the past the sample has, and when in it the incident begins and is mended. */
export const HISTORY_MS = 3 * 3_600_000
const BEFORE_NOW_MS = 47 * 60_000
const LASTS_MS = 9 * 60_000

/** The logs of the sample, by name. */
export type Lines = Record<'access.log' | 'postgresql.log' | 'storage.log', string>

/**
 * An incident of a small cluster, second by second. At `from` somebody saves memory in the configuration of this node:
 * flushes queue up, writes time out, clients get 503, and the database behind it runs out of connections. At `mended` more
 * threads flush. The same second has the same lines in every call.
 */
export function incidentBefore(now: number) {
  const from = now - BEFORE_NOW_MS
  const mended = from + LASTS_MS
  /** 0 while all is well, 1 at the height: it takes two minutes to build up and three to go. */
  const strength = (time: number) => {
    if (time < from) return 0
    if (time < mended) return Math.min(1, (time - from) / 120_000)
    return Math.max(0, 1 - (time - mended) / 180_000)
  }
  return {
    from,
    mended,
    config: configOf(now, from, mended),
    /** What the logs get in the second that begins at `time`. */
    second(time: number): Lines {
      const random = randomOf(Math.floor(time / 1000))
      const at = () => new Moment(time, random)
      const bad = strength(time)
      const reload = [from, mended].some((change) => Math.floor(change / 1000) === Math.floor(time / 1000))
      return {
        'storage.log': (reload ? reloaded(at()) : '') + storage(at(), bad),
        'access.log': access(at(), bad),
        'postgresql.log': postgresql(at(), bad),
      }
    },
  }
}

/** One second: its times in order, and its dice. */
class Moment {
  readonly second: number
  readonly random: () => number
  #last: number

  constructor(time: number, random: () => number) {
    this.second = Math.floor(time / 1000)
    this.random = random
    this.#last = this.second * 1000
  }

  /** How often something happens in this second that happens `rate` times on average. */
  times(rate: number): number[] {
    const count = Math.floor(rate) + (this.random() < rate % 1 ? 1 : 0)
    return Array.from({ length: count }, (_, i) => i)
  }

  upTo(most: number): number {
    return Math.floor(this.random() * most)
  }

  between(least: number, most: number): number {
    return Math.round(least + this.random() * (most - least))
  }

  one<T>(choices: readonly T[]): T {
    return choices[this.upTo(choices.length)]!
  }

  /** The next moment of this second, in the system's zone. */
  next(): { date: string; clock: string; zone: string; time: number } {
    const end = this.second * 1000 + 999
    const time = Math.min(end, this.#last + this.upTo(300))
    this.#last = time
    const minutes = -new Date(time).getTimezoneOffset()
    const [date, rest] = new Date(time + minutes * 60_000).toISOString().split('T') as [string, string]
    const [hours, rests] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60].map((n) =>
      `${n}`.padStart(2, '0'),
    )
    return { date, clock: rest.slice(0, 12), zone: `${minutes < 0 ? '-' : '+'}${hours}${rests}`, time }
  }
}

/** The node's own log, in the format of the node state API. */
function storage(at: Moment, bad: number): string {
  const line = (level: string, source: string, text: string, context: object) => {
    const { date, clock } = at.next()
    return `${date} ${clock}\t${level}\t${source}\t${text}\t${JSON.stringify(context)}\n`
  }
  const shard = () => at.between(1, 24)
  let text = ''
  for (const _ of at.times(0.55 - 0.3 * bad))
    text += line('INFO', 'replica/follower.go:131', '[Replica] [Follower]: applied batch', {
      shard: shard(),
      from: at.one(['storage-1', 'storage-3']),
      entries: at.between(20, 900),
      took: `${at.between(2, 30)}ms`,
    })
  for (const _ of at.times(0.25))
    text += line('INFO', 'query/executor.go:96', '[Query] [Executor]: query finished', {
      db: at.one(['metrics', 'traces']),
      series: at.between(1, 4000),
      took: `${Math.round(at.between(3, 180) * (1 + 20 * bad))}ms`,
    })
  for (const _ of at.times(0.12))
    text += line('INFO', 'tsdb/flush.go:88', '[TSDB] [Flush]: wrote table file', {
      shard: shard(),
      bytes: at.between(2_000_000, 30_000_000),
      took: `${Math.round(at.between(60, 400) * (1 + 25 * bad))}ms`,
    })
  for (const _ of at.times(0.08))
    text += line('DEBUG', 'tsdb/wal.go:77', '[TSDB] [WAL]: rolled segment', { shard: shard() })
  for (const _ of at.times(0.004))
    text += line('WARN', 'query/executor.go:118', '[Query] [Executor]: slow query', {
      db: 'traces',
      took: `${at.between(1100, 2900)}ms`,
    })
  for (const _ of at.times(0.0004))
    text += line('ERROR', 'rpc/stream.go:64', '[RPC] [Stream]: connection reset by peer', {
      peer: 'storage-3',
    })
  for (const _ of at.times(bad * 1.9))
    text += line('WARN', 'tsdb/memdb.go:187', '[TSDB] [MemDB]: memtable is full, writes wait for a flush', {
      shard: shard(),
      limit: '16 MiB',
      waiting: at.between(3, 40) * Math.ceil(bad * 4),
    })
  for (const _ of at.times(bad * 0.3))
    text += line('WARN', 'replica/follower.go:158', '[Replica] [Follower]: replication lags', {
      follower: at.one(['storage-1', 'storage-3']),
      lag: at.between(2000, 40_000),
    })
  for (const _ of at.times(bad * bad * 1.3))
    text += line('ERROR', 'broker/write.go:203', '[Broker] [Write]: write timed out after 5s', {
      shard: shard(),
      points: at.between(50, 5000),
      queue: at.between(10, 80),
    })
  for (const _ of at.times(bad * bad * 0.04)) {
    text += line('ERROR', 'tsdb/flush.go:142', '[TSDB] [Flush]: flush failed', {
      shard: shard(),
      error: 'deadline exceeded',
    })
    text += 'goroutine 8812 [running]:\n\ttsdb.(*flusher).run(0xc0003a2000)\n\t\ttsdb/flush.go:142 +0x1c5\n'
  }
  return text
}

function reloaded(at: Moment): string {
  const { date, clock } = at.next()
  return `${date} ${clock}\tINFO\tconfig/watch.go:58\t[Config] [Watch]: configuration reloaded\t{"file":"node.toml"}\n`
}

const CLIENTS = ['10.0.3.17', '10.0.3.18', '10.0.4.9', '10.0.4.31', '10.0.7.2']
const AGENTS = ['telegraf/1.32.1', 'Grafana/11.3.0', 'vector/0.42.0']

/** The access log of the proxy before it, combined, with the time that each request took. */
function access(at: Moment, bad: number): string {
  let text = ''
  for (const _ of at.times(1.1)) {
    const { date, clock, zone } = at.next()
    const [year, month, day] = date.split('-')
    const when = `${day}/${MONTHS[Number(month) - 1]}/${year}:${clock.slice(0, 8)} ${zone}`
    const isWrite = at.random() < 0.7
    const request = isWrite
      ? 'POST /api/v1/write?db=metrics'
      : `GET /api/v1/query?db=${at.one(['metrics', 'traces'])}`
    const fails = at.random() < bad * (isWrite ? 0.6 : 0.25)
    const status = fails ? 503 : isWrite ? 204 : at.random() < 0.01 ? 404 : 200
    const seconds = fails ? 5 + at.random() / 20 : (0.004 + at.random() * 0.09) * (1 + 30 * bad)
    const bytes = status === 200 ? at.between(300, 40_000) : status === 204 ? 0 : 117
    text += `${at.one(CLIENTS)} - - [${when}] "${request} HTTP/1.1" ${status} ${bytes} "-" "${at.one(AGENTS)}" ${seconds.toFixed(3)}\n`
  }
  return text
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const STATEMENTS = [
  'SELECT id, shard FROM series WHERE name = $1',
  'UPDATE shards SET leader = $1, epoch = $2 WHERE id = $3',
  'SELECT node, state FROM members ORDER BY node',
]

/** The database that keeps what the cluster knows of itself. */
function postgresql(at: Moment, bad: number): string {
  let text = ''
  const line = (level: string, message: string, session = `[${at.between(4000, 4400)}] tsdb@meta`) => {
    const time = new Date(at.next().time).toISOString().replace('T', ' ').slice(0, 23)
    text += `${time} UTC ${session} ${level}:  ${message}\n`
  }
  for (const _ of at.times(0.3)) {
    const ms = ((0.4 + at.random() * 9) * (1 + 60 * bad)).toFixed(3)
    line('LOG', `duration: ${ms} ms  statement: ${at.one(STATEMENTS)}`)
  }
  if (at.second % 300 === 0)
    line('LOG', `checkpoint complete: wrote ${at.between(40, 900)} buffers (1.2%)`, '[812]')
  for (const _ of at.times(bad * bad * 0.1)) {
    const session = `[${at.between(4000, 4400)}] tsdb@meta`
    line('ERROR', 'canceling statement due to statement timeout', session)
    line('STATEMENT', at.one(STATEMENTS), session)
  }
  for (const _ of at.times(bad * bad * 0.03))
    line('FATAL', 'remaining connection slots are reserved for roles with the SUPERUSER attribute')
  return text
}

/** The configuration of the node with its versions, oldest first. */
function configOf(now: number, from: number, mended: number) {
  return [
    { time: now - 21 * 86_400_000, text: toml('256 MiB', 2) },
    { time: from, text: toml('16 MiB', 2) },
    { time: mended, text: toml('16 MiB', 8) },
  ]
}

function toml(memtable: string, threads: number): string {
  return `# A sample. No node runs with it.
[node]
name = "storage-2"
data-dir = "/var/lib/tsdb"

[cluster]
seeds = ["storage-1:2891", "storage-3:2891"]
replicas = 2

[storage]
memtable-size = "${memtable}"
flush-threads = ${threads}
retention = "30d"

[write]
timeout = "5s"
queue = 1024

[meta]
url = "postgres://tsdb:sample-password@10.0.7.20:5432/meta"
max-connections = 60

[log]
dir = "/var/log/tsdb"
level = "debug"
`
}

/** Mulberry32: good enough for a sample, in five lines, the same on every runtime. */
function randomOf(seed: number): () => number {
  let state = Math.imul(seed, 0x9e3779b1)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}
