/** How programs name the files of a log: what the table in docs/rotation.md and its tests are made of. */
export interface Naming {
  who: string
  how: string
  /** The files in order of time, the newest last, as the program leaves them. */
  files: string[]
  /** The name that `log/list?detail=true` groups them under. */
  log: string
  /** Files of other logs beside them. */
  others?: string[]
  /** Pairs of names for one file: a link and its target. */
  links?: [link: string, target: string][]
  note?: string
}

const days = (make: (day: string) => string, from = 10, to = 15) =>
  Array.from({ length: to - from + 1 }, (_, i) => make(String(from + i)))

export const NAMINGS: Naming[] = [
  {
    who: 'logrotate',
    how: 'numbers',
    files: ['app.log.10.gz', 'app.log.9.gz', 'app.log.3.gz', 'app.log.2.gz', 'app.log.1', 'app.log'],
    log: 'app.log',
    others: ['app-slow.log', 'app-slow.log.1', 'app.logs'],
  },
  {
    who: 'logrotate',
    how: '`extension .log`',
    files: ['app.3.log.gz', 'app.2.log.gz', 'app.1.log', 'app.log'],
    log: 'app.log',
    others: ['app-2.log', 'node-1.2.3.log'],
  },
  {
    who: 'logrotate',
    how: 'names without an extension',
    files: ['syslog.3.gz', 'syslog.2.gz', 'syslog.1', 'syslog'],
    log: 'syslog',
    others: ['messages'],
  },
  {
    who: 'SQL Server',
    how: '`ERRORLOG.N`',
    files: ['ERRORLOG.3', 'ERRORLOG.2', 'ERRORLOG.1', 'ERRORLOG'],
    log: 'ERRORLOG',
  },
  {
    who: 'logrotate',
    how: '`dateext`',
    files: [...days((d) => `app.log-202611${d}`), 'app.log'],
    log: 'app.log',
  },
  {
    who: 'logrotate',
    how: '`dateformat -%s`',
    files: ['app.log-1794391200', 'app.log-1794477600', 'app.log-1794564000', 'app.log'],
    log: 'app.log',
  },
  {
    who: 'logrotate',
    how: '`dateformat -%Y%m%d-%s`',
    files: [
      'app.log-20261111-1794391200',
      'app.log-20261111-1794395200',
      'app.log-20261113-1794564000',
      'app.log',
    ],
    log: 'app.log',
  },
  {
    who: 'Log4j 2',
    how: '`app.log.%i`, the default `fileIndex="max"`',
    files: ['app.log.1', 'app.log.2', 'app.log.3', 'app.log.4', 'app.log.5', 'app.log'],
    log: 'app.log',
    note: 'the highest number is the newest',
  },
  {
    who: 'Log4j 2',
    how: '`app.log.%i`, `fileIndex="min"`',
    files: ['app.log.5', 'app.log.4', 'app.log.3', 'app.log.2', 'app.log.1', 'app.log'],
    log: 'app.log',
  },
  {
    who: 'Log4j 2',
    how: '`app-%d{yyyy-MM-dd}-%i.log.gz`, compressed later',
    files: [
      'app-2026-11-13-1.log.gz',
      ...Array.from({ length: 24 }, (_, i) => `app-2026-11-14-${i + 1}.log${i < 22 ? '.gz' : ''}`),
      'app.log',
    ],
    log: 'app.log',
    note: 'a number after a date is a counter or an hour',
  },
  {
    who: 'Log4j 2',
    how: '`app-%d{MM-dd-yyyy}-%i.log.gz`',
    files: [
      'app-12-31-2025-1.log.gz',
      'app-11-13-2026-1.log.gz',
      'app-11-14-2026-1.log.gz',
      'app-11-14-2026-2.log.gz',
      'app.log',
    ],
    log: 'app.log',
  },
  {
    who: 'logback',
    how: 'fixed window, `app.%i.log`',
    files: ['app.3.log', 'app.2.log', 'app.1.log', 'app.log'],
    log: 'app.log',
  },
  {
    who: 'logback',
    how: '`app.%d.%i.log.gz`',
    files: [
      'app.2026-11-14.0.log.gz',
      'app.2026-11-14.1.log.gz',
      'app.2026-11-14.2.log.gz',
      'app.2026-11-14.10.log.gz',
      'app.2026-11-15.0.log',
      'app.log',
    ],
    log: 'app.log',
  },
  {
    who: 'Elasticsearch',
    how: '`-YYYY-MM-DD-N.log.gz`',
    files: [...Array.from({ length: 24 }, (_, i) => `es-2026-11-14-${i + 1}.log.gz`), 'es.log'],
    log: 'es.log',
    others: ['es_deprecation.log', 'es_index_search_slowlog.log'],
  },
  {
    who: 'PostgreSQL',
    how: '`postgresql-%Y-%m-%d_%H%M%S.log`',
    files: [
      'postgresql-2026-11-13_000000.log',
      'postgresql-2026-11-14_000000.log',
      'postgresql-2026-11-14_093012.log',
      'postgresql-2026-11-15_000000.log',
    ],
    log: 'postgresql.log',
    others: ['postgresql-2026-11-14_000000.csv'],
    note: 'the newest file has a date, too: a follower moves on',
  },
  {
    who: 'PostgreSQL',
    how: '`postgresql-%a.log`',
    files: ['Thu', 'Fri', 'Sat', 'Sun', 'Mon', 'Tue', 'Wed'].map((day) => `postgresql-${day}.log`),
    log: 'postgresql.log',
    note: 'in order of the records',
  },
  {
    who: 'rotatelogs',
    how: 'seconds since 1970, with a `-L` link',
    files: ['access.log.1794391200', 'access.log.1794477600', 'access.log.1794564000'],
    log: 'access.log',
    links: [['access.log', 'access.log.1794564000']],
  },
  {
    who: 'rotatelogs',
    how: 'seconds since 1970, with a link of another name',
    files: ['access.1794391200', 'access.1794477600', 'access.1794564000'],
    log: 'access',
    links: [['current-access', 'access.1794564000']],
  },
  {
    who: 'rotatelogs',
    how: '`access_%Y_%m_%d.log`',
    files: days((d) => `access_2026_11_${d}.log`),
    log: 'access.log',
  },
  {
    who: 'rotatelogs',
    how: '`-n 5`, reused in turn',
    files: ['access.log.3', 'access.log.4', 'access.log', 'access.log.1', 'access.log.2'],
    log: 'access.log',
    note: 'in order of the records',
  },
  {
    who: 'winston-daily-rotate-file',
    how: 'by day',
    files: days((d) => `app-2026-11-${d}.log`),
    log: 'app.log',
  },
  {
    who: 'winston-daily-rotate-file',
    how: 'by day and size, with a link',
    files: [
      'app-2026-11-14.log',
      'app-2026-11-14.log.1',
      'app-2026-11-14.log.2',
      'app-2026-11-15.log',
      'app-2026-11-15.log.1',
      'app-2026-11-15.log.10',
    ],
    log: 'app.log',
    links: [['current.log', 'app-2026-11-15.log.10']],
  },
  {
    who: 'pm2-logrotate',
    how: '`__`',
    files: [
      'app-out__2026-11-13_00-00-00.log',
      'app-out__2026-11-14_00-00-00.log',
      'app-out__2026-11-14_12-30-00.log.gz',
      'app-out.log',
    ],
    log: 'app-out.log',
    others: ['app-out-0.log', 'app-error.log'],
  },
  {
    who: 'Serilog',
    how: 'by day and size',
    files: [
      'log20261114.txt',
      'log20261114_001.txt',
      'log20261114_002.txt',
      'log20261115.txt',
      'log20261115_001.txt',
    ],
    log: 'log.txt',
  },
  {
    who: 'Serilog',
    how: 'by size',
    files: ['log.txt', 'log_001.txt', 'log_002.txt', 'log_003.txt'],
    log: 'log.txt',
    others: ['other_001.txt'],
    note: 'in order of the records',
  },
  {
    who: 'Serilog',
    how: 'by hour',
    files: ['log2026111409.txt', 'log2026111410.txt', 'log2026111500.txt'],
    log: 'log.txt',
  },
  {
    who: 'CockroachDB',
    how: 'host, user, time, process, and a link',
    files: [
      'cockroach.db4.root.2026-11-13T09_00_00Z.004711.log',
      'cockroach.db4.root.2026-11-14T09_00_00Z.004711.log',
      'cockroach.db4.root.2026-11-15T08_30_00Z.000815.log',
    ],
    log: 'cockroach.db4.root.log',
    links: [['cockroach.log', 'cockroach.db4.root.2026-11-15T08_30_00Z.000815.log']],
    others: ['cockroach-health.db4.root.2026-11-13T09_00_00Z.004711.log'],
  },
  {
    who: 'RocksDB',
    how: '`LOG.old.<µs>`',
    files: ['LOG.old.1794391200123456', 'LOG.old.1794477600123456', 'LOG'],
    log: 'LOG',
    others: ['LOCK'],
  },
  {
    who: 'svlogd, multilog',
    how: '`@4000….s`, `current`',
    files: [
      '@400000006af5a1000c5d3e34.s',
      '@400000006af5a2000c5d3e34.s',
      '@400000006af5a2010c5d3e34.u',
      'current',
    ],
    log: 'current',
    others: ['config', 'lock', 'state'],
  },
  {
    who: 'lumberjack',
    how: 'time of the rotation',
    files: [
      'app-2026-11-13T10-00-00.000.log.gz',
      'app-2026-11-14T09-59-59.999.log',
      'app-2026-11-14T10-00-00.001.log',
      'app.log',
    ],
    log: 'app.log',
  },
  {
    who: 'Python',
    how: '`RotatingFileHandler`',
    files: ['app.log.3', 'app.log.2', 'app.log.1', 'app.log'],
    log: 'app.log',
  },
  {
    who: 'Python',
    how: '`TimedRotatingFileHandler`',
    files: ['app.log.2026-11-14_09-00', 'app.log.2026-11-14_10-00', 'app.log.2026-11-14_10-30', 'app.log'],
    log: 'app.log',
  },
  {
    who: 'savelog',
    how: 'from 0',
    files: ['app.log.2.gz', 'app.log.1.gz', 'app.log.0', 'app.log'],
    log: 'app.log',
  },
  {
    who: 'kubelet',
    how: 'container logs',
    files: ['0.log.20261113-100000.gz', '0.log.20261114-100000', '0.log'],
    log: '0.log',
  },
  {
    who: 'Docker',
    how: '`json-file`',
    files: ['ab12-json.log.2.gz', 'ab12-json.log.1', 'ab12-json.log'],
    log: 'ab12-json.log',
  },
  {
    who: 'ClickHouse',
    how: 'from 0',
    files: ['clickhouse-server.log.1.gz', 'clickhouse-server.log.0.gz', 'clickhouse-server.log'],
    log: 'clickhouse-server.log',
    others: ['clickhouse-server.err.log', 'clickhouse-server.err.log.0.gz'],
  },
  {
    who: 'mongod',
    how: '`logRotate rename`',
    files: ['mongod.log.2026-11-13T10-00-00', 'mongod.log.2026-11-14T10-00-00', 'mongod.log'],
    log: 'mongod.log',
  },
  {
    who: 'TiKV',
    how: 'time of the rotation',
    files: ['tikv-2026-11-13T10-00-00.000.log', 'tikv-2026-11-14T10-00-00.000.log', 'tikv.log'],
    log: 'tikv.log',
  },
  {
    who: 'Kafka',
    how: 'by hour',
    files: ['server.log.2026-11-14-09', 'server.log.2026-11-14-10', 'server.log.2026-11-15-00', 'server.log'],
    log: 'server.log',
  },
  {
    who: 'glog',
    how: 'host, user, level, time, process, and a link',
    files: [
      'prog.db4.root.log.INFO.20261113-100000.815',
      'prog.db4.root.log.INFO.20261114-100000.815',
      'prog.db4.root.log.INFO.20261115-080000.90210',
    ],
    log: 'prog.db4.root.log.INFO',
    links: [['prog.INFO', 'prog.db4.root.log.INFO.20261115-080000.90210']],
    others: ['prog.db4.root.log.ERROR.20261113-100000.815'],
  },
  {
    who: 'Tomcat',
    how: '`catalina.YYYY-MM-DD.log`',
    files: days((d) => `catalina.2026-11-${d}.log`),
    log: 'catalina.log',
    others: ['catalina.out', 'localhost.2026-11-14.log'],
  },
  {
    who: 'Cassandra',
    how: '`system.log.N.zip`',
    files: ['system.log.2.zip', 'system.log.1.zip', 'system.log'],
    log: 'system.log',
    others: ['debug.log'],
  },
]
