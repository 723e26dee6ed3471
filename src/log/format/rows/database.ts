import type { Row } from './row.ts'

const DATE = String.raw`(?<y>\d{4})-(?<mon>\d\d)-(?<d>\d\d)`
const CLOCK = String.raw`(?<h>\d\d):(?<min>\d\d):(?<s>\d\d)(?:[.,](?<f>\d+))?`
/** MySQL's times: `261115  2:10:05` until 5.5 and in MariaDB, ISO since 5.7. */
export const MYSQL_TIME = String.raw`(?<y>\d{4}|\d\d)-?(?<mon>\d\d)-?(?<d>\d\d)[T ] *(?<h>\d{1,2}):(?<min>\d\d):(?<s>\d\d)(?:\.(?<f>\d+))?(?<z>Z|[+-]\d\d:\d\d)?`
const COMMANDS =
  'Connect|Query|Quit|Init DB|Field List|Prepare|Execute|Close stmt|Reset stmt|Long Data|Fetch|Statistics|Processlist|Ping|Kill|Refresh|Shutdown|Change user|Create DB|Drop DB|Binlog Dump|Register Slave|Set option|Daemon|Debug|Sleep|Error|Reset Connection|Delayed insert|Table Dump|Connect Out|Time'

/** The general log comes before LinDB's lines: it has a tab after its time, too. */
export const GENERAL_LOG: Row = {
  name: 'mysql-general',
  shape: ['0000-00-00T00:00:00', '000000 ', '\t\t'],
  // MariaDB writes the time only when the second changes; the events that follow are records without one.
  head: new RegExp(String.raw`^(?:${MYSQL_TIME})?\t+ *(?<thread>\d+) (?<tag>${COMMANDS})(?:\t|\s*$)`),
  unpaired: true,
}

/** Databases with unique line formats. */
export const DATABASE: readonly Row[] = [
  {
    name: 'mysql-5.5',
    shape: '000000 ',
    head: /^(?<y>\d\d)(?<mon>\d\d)(?<d>\d\d) +(?<h>\d{1,2}):(?<min>\d\d):(?<s>\d\d) +(?:\[(?<level>[A-Z]\w+)\] )?/,
  },
  {
    name: 'db2',
    shape: '0000-00-00-00.00.00.000',
    head: new RegExp(
      String.raw`^${DATE}-(?<h>\d\d)\.(?<min>\d\d)\.(?<s>\d\d)\.(?<f>\d+)(?<zmin>[+-]\d{3}) (?<record>\S+) +LEVEL: (?<level>\w+)(?: \([^)]*\))?\s*$`,
    ),
    levels: { Event: 1 },
    below: true,
    inside: [
      /^PID {0,8}: (?<pid>\d{1,20}) {1,60}TID {0,8}: (?<thread>\d{1,20})/,
      /^INSTANCE: (?<instance>\S{1,60})(?: .{0,60}\bDB {0,8}: (?<db>\S{1,60}))?/m,
      /^AUTHID {0,4}: (?<user>\S{1,60})/m,
    ],
    owns: {
      shape: ['^^^'],
      line: /^(?:PID|INSTANCE|APPHDL|APPID|AUTHID|EDUID|FUNCTION|MESSAGE|DATA|START|STOP|CHANGE|RETCODE|HOSTNAME|IMPACT)\b[^:]{0,40}:/,
    },
  },
  {
    name: 'aerospike',
    shape: '^?? 00 0000 00:00:00',
    head: new RegExp(
      String.raw`^(?<mon>[A-Z][a-z]{2}) (?<d>\d\d) (?<y>\d{4}) ${CLOCK} (?<z>[A-Z]{3,5}): (?<level>[A-Z]{4,8}) \((?<tag>[^)]{1,40})\): (?:\((?<file>[^:)]{1,100}):(?<line>\d+)\) )?`,
    ),
  },
  {
    name: 'oracle-listener',
    shape: '00-^^^-0000 00:00:00 ? ',
    head: new RegExp(String.raw`^(?<d>\d\d)-(?<mon>[A-Z]{3})-(?<y>\d{4}) ${CLOCK} \* `),
    unpaired: true,
  },
  {
    name: 'hana',
    shape: '[0',
    head: new RegExp(
      String.raw`^\[(?<thread>\d+)\]\{(?<connection>-?\d+)\}\[[^\]]{0,40}\] ${DATE} ${CLOCK} (?<level>[diwef]) (?<tag>\S+) +(?<file>[^\s(]+)\((?<line>\d+)\) : `,
    ),
    levels: { d: 0, i: 1, w: 2, e: 3, f: 4 },
  },
  {
    name: 'couchdb',
    shape: '[',
    head: new RegExp(
      String.raw`^\[(?<level>[a-z]+)\] ${DATE}T${CLOCK}(?<z>Z|[+-]\d\d:\d\d)? (?<node>\S+@\S+) (?<pid><[\d.]+>) (?:-{8}|(?<request_id>\S+)) `,
    ),
  },
  {
    name: 'rocksdb',
    shape: '0000/00/00-00:00:00.',
    head: new RegExp(
      String.raw`^(?<y>\d{4})/(?<mon>\d\d)/(?<d>\d\d)-${CLOCK} (?<thread>[0-9a-f]+) (?:\[(?<level>DEBUG|INFO|WARN|ERROR|FATAL)\] )?(?:\[(?<file>[^\]:\s]+):(?<line>\d+)\] )?`,
    ),
    silent: 1,
  },
  {
    name: 'mongodb-4.2',
    shape: '0000-00-00T00:00:00.000',
    head: new RegExp(
      String.raw`^${DATE}T${CLOCK}(?<z>Z|[+-]\d{4}) (?<level>D[1-5]?|[IWEF]) +(?<tag>[A-Z_-]+) +\[(?<thread>[^\]]{0,80})\] `,
    ),
    levels: { D: 0, D1: 0, D2: 0, D3: 0, D4: 0, D5: 0, I: 1, W: 2, E: 3, F: 4 },
  },
  {
    name: 'etcd-3.4',
    shape: '0000-00-00 00:00:00.000000 ? | ',
    head: new RegExp(String.raw`^${DATE} ${CLOCK} (?<level>[CEWNIDT]) \| (?:(?<tag>[\w./-]+): )?`),
    levels: { C: 4, E: 3, W: 2, N: 1, I: 1, D: 0, T: 0 },
  },
  {
    name: 'ceph',
    shape: '0000-00-00?00:00:00.000',
    head: new RegExp(
      String.raw`^${DATE}[T ]${CLOCK}(?<z>[+-]\d{4})? (?<thread>[0-9a-f]{8,16}) +(?<level>-?\d{1,2}) `,
    ),
    levels: Object.fromEntries(
      Array.from({ length: 32 }, (_, i) => [`${i - 1}`, i === 0 ? 3 : i <= 2 ? 1 : 0]),
    ),
  },
  {
    name: 'ceph-cluster',
    shape: '0000-00-00?00:00:00.000',
    head: new RegExp(
      String.raw`^${DATE}[T ]${CLOCK}(?<z>[+-]\d{4})? (?<daemon>\S+) \((?<rank>\S+)\) (?<sequence>\d+) : (?<tag>\w+) \[(?<level>DBG|INF|SEC|WRN|ERR)\] `,
    ),
    levels: { DBG: 0, INF: 1, SEC: 2, WRN: 2, ERR: 3 },
  },
]
