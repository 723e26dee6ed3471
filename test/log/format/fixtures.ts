import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Every format by its fixture. The template makes lines of any time: `{Y}-{M}-{D} {h}:{m}:{s}.{ms}` and the like are
 * filled in, in UTC where `utc` is set and else on the log's wall clock.
 */
export interface Fixture {
  /** The file in fixtures/ with genuine lines, and the one with what they are read as. */
  id: string
  title: string
  group: 'This node' | 'Databases' | 'Containers' | 'JSON' | 'Servers, clusters and runtimes'
  template: string
  utc?: boolean
  /** How exact the template's times are, in ms. @default 1 */
  unit?: number
  /** The times have no date. */
  clock?: boolean
}

const row = (
  group: Fixture['group'],
  id: string,
  title: string,
  template: string,
  more: Partial<Fixture> = {},
): Fixture => ({ id, title, group, template, ...more })

const SECOND = { unit: 1000 }
const UTC = { utc: true }

const ISO = '{Y}-{M}-{D}T{h}:{m}:{s}.{us}Z'
const WALL = '{Y}-{M}-{D} {h}:{m}:{s}.{ms}'

export const FIXTURES: readonly Fixture[] = [
  row('This node', 'lindb', 'LinDB’s lines, which the node itself writes', `${WALL}\tINFO\ta.go:1\t[A]: hi`),
  ...database(),
  row(
    'Containers',
    'docker',
    'Docker json-file, the lines inside by their own format',
    `{"log":"${WALL}\\tINFO\\ta.go:1\\t[A]: hi\\n","stream":"stdout","time":"2026-01-01T00:00:00Z"}`,
  ),
  row(
    'Containers',
    'docker-plain',
    'Docker json-file around plain text',
    `{"log":"hi\\n","stream":"stdout","time":"${ISO}"}`,
    UTC,
  ),
  row(
    'Containers',
    'cri',
    'Kubernetes CRI, the lines inside by their own format',
    `2026-01-01T00:00:00.000000000Z stdout F ${WALL} INFO hi`,
  ),
  row(
    'Containers',
    'cri-json',
    'Kubernetes CRI around JSON',
    '2026-01-01T00:00:00.000000000Z stdout F {"level":"info","ts":{epoch}.{ms},"msg":"hi"}',
    UTC,
  ),
  row(
    'Containers',
    'fluent-bit',
    'Fluent Bit’s JSON lines around glog',
    '{"date":1.5,"log":"I{Y}{M}{D} {h}:{m}:{s}.{us} 1 a.go:1] hi"}',
  ),
  row(
    'Containers',
    'docker-leveled',
    'Docker json-file around lines that begin with a level',
    `{"log":"INFO [main] o.s.Pool - hi\\n","stream":"stdout","time":"${ISO}"}`,
    UTC,
  ),
  row(
    'Containers',
    'fluent-bit-leveled',
    'Fluent Bit’s JSON lines around lines that begin with a level',
    '{"date":{epoch}.{ms},"log":"INFO hi"}',
    UTC,
  ),
  row(
    'Containers',
    'cri-split',
    'Kubernetes CRI around JSON that it splits',
    '2026-01-01T00:00:00.000000000Z stdout P {"ts":{epoch}.{ms},"msg":"hi",\n2026-01-01T00:00:00.000000000Z stdout F "level":"info"}',
    UTC,
  ),
  row(
    'JSON',
    'zap',
    'zap and others (`ts`, `level`, `msg`)',
    '{"level":"info","ts":{epoch}.{ms},"msg":"hi"}',
    UTC,
  ),
  row('JSON', 'pino', 'pino and bunyan (numbers as levels)', '{"level":30,"time":{epochms},"msg":"hi"}', UTC),
  row(
    'JSON',
    'postgresql-json',
    'PostgreSQL jsonlog (`error_severity`)',
    `{"timestamp":"${WALL}","error_severity":"LOG","message":"hi"}`,
  ),
  row(
    'JSON',
    'mysql-json',
    'MySQL’s JSON error log (`label`)',
    `{ "prio" : 2, "msg" : "hi", "time" : "${ISO}", "label" : "Warning" }`,
    UTC,
  ),
  row(
    'JSON',
    'mongodb',
    'MongoDB since 4.4',
    '{"t":{"$date":"{Y}-{M}-{D}T{h}:{m}:{s}.{ms}+00:00"},"s":"I","c":"NETWORK","id":1,"ctx":"x","msg":"hi"}',
    UTC,
  ),
  row(
    'JSON',
    'rust-tracing',
    'Rust’s tracing (`fields.message`)',
    `{"timestamp":"${ISO}","level":"INFO","fields":{"message":"hi"},"target":"a"}`,
    UTC,
  ),
  row(
    'JSON',
    'journald',
    'journald (`journalctl -o json`)',
    '{"__REALTIME_TIMESTAMP":"{epochms}000","PRIORITY":"6","MESSAGE":"hi"}',
    UTC,
  ),
  row(
    'JSON',
    'nginx-json',
    'nginx access log as JSON (`time_local`)',
    '{"time_local":"{D}/{Mon}/{Y}:{h}:{m}:{s} +0000","request":"GET /"}',
    { ...UTC, ...SECOND },
  ),
  row(
    'JSON',
    'cloudwatch-json',
    '`@timestamp` and `@message`',
    `{"@timestamp":"${ISO}","@message":"hi","level":"info"}`,
    UTC,
  ),
  row(
    'JSON',
    'gelf',
    'GELF',
    '{"version":"1.1","host":"x","short_message":"hi","timestamp":{epoch}.{ms},"level":6}',
    UTC,
  ),
  row('JSON', 'rclone-json', 'logrus (rclone)', `{"level":"debug","msg":"hi","time":"${ISO}"}`, UTC),
  row(
    'JSON',
    'hclog',
    'Vault, Consul, Nomad, Terraform (`@level`, `@message`)',
    `{"@level":"info","@message":"hi","@module":"core","@timestamp":"${ISO}"}`,
    UTC,
  ),
  row(
    'JSON',
    'ecs',
    'ECS, nested or with dots',
    `{"@timestamp":"${ISO}","log":{"level":"info","logger":"a.B"},"message":"hi"}`,
    UTC,
  ),
  row(
    'JSON',
    'otel',
    'OpenTelemetry (`severity_text`, `body`)',
    `{"timestamp":"${ISO}","severity_text":"INFO","severity_number":9,"body":"hi"}`,
    UTC,
  ),
  row(
    'JSON',
    'serilog',
    'Serilog (`@t`, `@mt`), its template filled in',
    `{"@t":"${ISO}","@l":"Information","@mt":"hi {User}","User":"bob"}`,
    UTC,
  ),
  row(
    'JSON',
    'google-cloud',
    'Google Cloud (`severity`, `timestamp.seconds`)',
    '{"severity":"INFO","timestamp":{"seconds":{epoch},"nanos":0},"message":"hi"}',
    { ...UTC, ...SECOND },
  ),
  row(
    'JSON',
    'lambda',
    'AWS Lambda',
    `{"timestamp":"${ISO}","level":"INFO","message":"hi","requestId":"1"}`,
    UTC,
  ),
  row('JSON', 'bunyan', 'bunyan', `{"name":"a","pid":1,"level":30,"msg":"hi","time":"${ISO}","v":0}`, UTC),
  row(
    'JSON',
    'elasticsearch-slowlog-json',
    'Elasticsearch’s slow log as JSON',
    `{"@timestamp":"${ISO}","log.level":"INFO","elasticsearch.slowlog.message":"hi","elasticsearch.slowlog.took_millis":12}`,
    UTC,
  ),
  row(
    'JSON',
    'caddy',
    'Caddy’s access log',
    '{"level":"warn","ts":{epoch}.{ms},"msg":"hi","request":{"remote_ip":"10.0.0.7","method":"GET","uri":"/"},"duration":0.001,"size":5,"status":200}',
    UTC,
  ),
  ...servers(),
]

function database(): Fixture[] {
  const group = 'Databases'
  return [
    row(
      group,
      'mariadb',
      'MariaDB, its hour padded with a space',
      '{Y}-{M}-{D} {hp}:{m}:{s} 0 [Note] hi',
      SECOND,
    ),
    row(group, 'mariadb-slow', 'MariaDB slow log', '# Time: {y}{M}{D} {hp}:{m}:{s}', SECOND),
    row(
      group,
      'mariadb-general',
      'MariaDB general log',
      '{y}{M}{D} {hp}:{m}:{s}\t     3 Query\tselect 1',
      SECOND,
    ),
    row(group, 'mysql', 'MySQL error log', `${ISO} 0 [Warning] [MY-010068] [Server] hi`, UTC),
    row(group, 'mysql-5.5', 'MySQL 5.5 error log', '{y}{M}{D} {hp}:{m}:{s} [Note] hi', SECOND),
    row(group, 'mysql-slow', 'MySQL slow log', `# Time: ${ISO}`, UTC),
    row(group, 'percona-slow', 'Percona slow log', '# Time: {y}{M}{D} {hp}:{m}:{s}', SECOND),
    row(group, 'mysql-general', 'MySQL general log', `${ISO}\t    8 Query\tSELECT 1`, UTC),
    row(group, 'postgresql', 'PostgreSQL, default `log_line_prefix`', `${WALL} UTC [1] LOG:  hi`, UTC),
    row(
      group,
      'postgresql-prefix',
      'PostgreSQL, a long `log_line_prefix` and a zone',
      '{Y}-{M}-{D} {h}:{m}:{s} {zone} [1]: [1-1] user=a,db=b,app=c d e f g h i j,client=[local] ERROR:  hi',
      SECOND,
    ),
    row(group, 'postgresql-epoch', 'PostgreSQL with `%n`', '{epoch}.{ms} 1 LOG:  hi', UTC),
    row(
      group,
      'postgresql-csv',
      'PostgreSQL csvlog',
      `${WALL} {zone},"a","b",1,"[local]",6a.2b,1,"SELECT",2026-11-15 12:34:18 CET,3/4,0,ERROR,22012,"hi",,,,,,"select 1",,,"c","client backend",,0`,
    ),
    row(
      group,
      'postgresql-durations',
      'PostgreSQL: statements, plans, checkpoints, autovacuum',
      `${WALL} UTC [1] a@b LOG:  duration: 1.000 ms  statement: select 1`,
      UTC,
    ),
    row(group, 'pgbouncer', 'PgBouncer', `${WALL} UTC [1] LOG C-0x1: hi`, UTC),
    row(group, 'patroni', 'Patroni', '{Y}-{M}-{D} {h}:{m}:{s},{ms} INFO: hi'),
    row(group, 'redis', 'Redis and Valkey', '1:M {D} {Mon} {Y} {h}:{m}:{s}.{ms} * hi'),
    row(
      group,
      'valkey-logfmt',
      'Valkey, logfmt',
      'pid=1 role=primary timestamp="{D} {Mon} {Y} {h}:{m}:{s}.{ms}" level=notice message="hi"',
    ),
    row(
      group,
      'mongodb-4.2',
      'MongoDB before 4.4',
      '{Y}-{M}-{D}T{h}:{m}:{s}.{ms}+0000 I NETWORK  [listener] hi',
      UTC,
    ),
    row(group, 'etcd-3.4', 'etcd 3.4', '{Y}-{M}-{D} {h}:{m}:{s}.{us} I | etcdmain: hi'),
    row(
      group,
      'elasticsearch',
      'Elasticsearch and OpenSearch',
      '[{Y}-{M}-{D}T{h}:{m}:{s},{ms}][INFO ][o.e.n.Node] [n] hi',
    ),
    row(
      group,
      'elasticsearch-slowlog',
      'Elasticsearch’s slow log',
      '[{Y}-{M}-{D}T{h}:{m}:{s},{ms}][INFO ][i.s.s.query] [n] [i][0] hi took[1.2s], took_millis[1200]',
    ),
    row(group, 'clickhouse', 'ClickHouse', '{Y}.{M}.{D} {h}:{m}:{s}.{us} [ 77 ] {} <Debug> Server: hi'),
    row(group, 'cassandra', 'Cassandra', 'INFO  [main] {Y}-{M}-{D} {h}:{m}:{s},{ms} Daemon.java:12 - hi'),
    row(group, 'cockroachdb', 'CockroachDB', 'I{y}{M}{D} {h}:{m}:{s}.{us} 123 1@a.go:12 ⋮ [n1] 34 hi'),
    row(group, 'tidb', 'TiDB and TiKV', '[{Y}/{M}/{D} {h}:{m}:{s}.{ms} +00:00] [INFO] [a.go:1] ["hi"]', UTC),
    row(group, 'couchdb', 'CouchDB', `[info] ${ISO} couchdb@127.0.0.1 <0.9.0> -------- hi`, UTC),
    row(group, 'rocksdb', 'RocksDB and LevelDB `LOG`', '{Y}/{M}/{D}-{h}:{m}:{s}.{us} 7f1a [a.cc:1] hi'),
    row(group, 'db2', 'Db2 db2diag', '{Y}-{M}-{D}-{h}.{m}.{s}.{us}+000 I1E1            LEVEL: Info', UTC),
    row(
      group,
      'hana',
      'SAP HANA trace',
      '[1]{-1}[-1/-1] {Y}-{M}-{D} {h}:{m}:{s}.{us} i Basis            a.cpp(00469) : hi',
    ),
    row(group, 'oracle', 'Oracle alert log', '{Day} {Mon} {D} {h}:{m}:{s} {Y}', SECOND),
    row(group, 'oracle-iso', 'Oracle alert log since 12.2', '{Y}-{M}-{D}T{h}:{m}:{s}.{us}+00:00', UTC),
    row(
      group,
      'oracle-listener',
      'Oracle listener log',
      '{D}-{MON}-{Y} {h}:{m}:{s} * service_update * hi',
      SECOND,
    ),
    row(group, 'aerospike', 'Aerospike', '{Mon} {D} {Y} {h}:{m}:{s} GMT: INFO (info): (a.c:1) hi', {
      ...UTC,
      ...SECOND,
    }),
    row(group, 'ceph', 'Ceph daemons', '{Y}-{M}-{D}T{h}:{m}:{s}.{ms}+0000 7f1a2b3c4d5e  0 mon.a hi', UTC),
    row(
      group,
      'ceph-cluster',
      'Ceph cluster log',
      '{Y}-{M}-{D}T{h}:{m}:{s}.{us}+0000 mon.a (mon.0) 1 : cluster [INF] hi',
      UTC,
    ),
  ]
}

function servers(): Fixture[] {
  const group = 'Servers, clusters and runtimes'
  return [
    row(
      group,
      'prometheus',
      'logfmt (Prometheus, InfluxDB, Grafana)',
      'ts={Y}-{M}-{D}T{h}:{m}:{s}.{ms}Z level=info msg="hi"',
      UTC,
    ),
    row(group, 'glog', 'glog and klog', 'I{Y}{M}{D} {h}:{m}:{s}.{us} 1 a.go:1] hi'),
    row(group, 'nginx-error', 'nginx error log', '{Y}/{M}/{D} {h}:{m}:{s} [notice] 1#1: hi', SECOND),
    row(
      group,
      'apache-error',
      'Apache 2.4 error log',
      '[{Day} {Mon} {D} {h}:{m}:{s}.{us} {Y}] [core:error] [pid 1:tid 2] hi',
    ),
    row(
      group,
      'access-log',
      'Access logs, common and combined',
      '10.0.0.7 - - [{D}/{Mon}/{Y}:{h}:{m}:{s} +0000] "GET / HTTP/1.1" 200 5',
      { ...UTC, ...SECOND },
    ),
    row(
      group,
      'vhost-combined',
      'Access logs, `vhost_combined`',
      'www.example.org:443 10.0.0.7 - - [{D}/{Mon}/{Y}:{h}:{m}:{s} +0000] "GET / HTTP/1.1" 200 5',
      { ...UTC, ...SECOND },
    ),
    row(
      group,
      'access-times',
      'Access logs with the time taken and the upstream (nginx)',
      '10.0.0.7 - - [{D}/{Mon}/{Y}:{h}:{m}:{s} +0000] "GET / HTTP/1.1" 200 5 "-" "curl" 0.004 10.0.0.5:80',
      { ...UTC, ...SECOND },
    ),
    row(
      group,
      'haproxy',
      'HAProxy’s HTTP log, with or without syslog',
      '{Mon} {Dp} {h}:{m}:{s} lb haproxy[1]: 10.0.0.7:51234 [15/Nov/2026:02:10:00.123] http-in web/s1 0/0/0/0/1 200 5 - - ---- 1/1/0/0/0 0/0 "GET / HTTP/1.1"',
      SECOND,
    ),
    row(
      group,
      'envoy',
      'Envoy',
      '[{Y}-{M}-{D}T{h}:{m}:{s}.{ms}Z] "GET / HTTP/1.1" 200 - 0 5 1 1 "-" "curl" "id" "host" "10.0.0.5:80"',
      UTC,
    ),
    row(
      group,
      'alb',
      'AWS Application Load Balancer',
      `http ${ISO} app/x 10.0.0.7:2817 10.0.0.1:80 0.000 0.001 0.000 200 200 34 366 "GET http://h:80/ HTTP/1.1" "curl" - -`,
      UTC,
    ),
    row(
      group,
      'cloudfront',
      'AWS CloudFront',
      '{Y}-{M}-{D}\t{h}:{m}:{s}\tLAX1\t392\t10.0.0.7\tGET\th\t/\t200\t-\tcurl\t-\t-\tHit\tid\th\thttps\t23\t0.001\t-',
      { ...UTC, ...SECOND },
    ),
    row(group, 'syslog', 'syslog', '{Mon} {Dp} {h}:{m}:{s} db-4 a[1]: hi', SECOND),
    row(group, 'rfc5424', 'syslog, RFC 5424', '<30>1 {Y}-{M}-{D}T{h}:{m}:{s}.{ms}Z db-4 a 1 - - hi', UTC),
    row(
      group,
      'log4j',
      'Log4j and most of what is left',
      '{Y}-{M}-{D} {h}:{m}:{s},{ms} INFO  [main] a.B - hi',
    ),
    row(
      group,
      'spring-boot',
      'Spring Boot',
      '{Y}-{M}-{D}T{h}:{m}:{s}.{ms}Z  INFO 1 --- [app] [           main] c.e.App : hi',
      UTC,
    ),
    row(group, 'kafka', 'Kafka', '[{Y}-{M}-{D} {h}:{m}:{s},{ms}] INFO hi (kafka.server.KafkaServer)'),
    row(group, 'python', 'Python’s logging', '{Y}-{M}-{D} {h}:{m}:{s},{ms} - app.db - INFO - hi'),
    row(
      group,
      'logback',
      'A clock without a date: the defaults of logback and Log4j',
      '{h}:{m}:{s}.{ms} [main] INFO  a.B - hi',
      { clock: true },
    ),
    row(group, 'tomcat', 'Tomcat', '{D}-{Mon}-{Y} {h}:{m}:{s}.{ms} INFO [main] a.B.c hi'),
    row(
      group,
      'java-util-logging',
      'java.util.logging, two lines',
      '{Mon} {d}, {Y} {h12}:{m}:{s} {AMPM} a.B c\nINFO: hi',
      SECOND,
    ),
    row(group, 'spark', 'Spark', '{y}/{M}/{D} {h}:{m}:{s} INFO Executor: hi', SECOND),
    row(group, 'hdfs', 'HDFS', '{y}{M}{D} {h}{m}{s} 1 INFO dfs.DataNode: hi', SECOND),
    row(group, 'android', 'Android logcat', '{M}-{D} {h}:{m}:{s}.{ms}  1  2 D Tag: hi'),
    row(group, 'php', 'PHP and PHP-FPM', '[{D}-{Mon}-{Y} {h}:{m}:{s}] NOTICE: hi', SECOND),
    row(
      group,
      'monolog',
      'Monolog (Laravel, Symfony)',
      '[{Y}-{M}-{D}T{h}:{m}:{s}.{us}+00:00] app.INFO: hi',
      UTC,
    ),
    row(group, 'env-logger', 'Rust’s env_logger', '[{Y}-{M}-{D}T{h}:{m}:{s}Z INFO  app] hi', {
      ...UTC,
      ...SECOND,
    }),
    row(group, 'nats', 'NATS', '[1] {Y}/{M}/{D} {h}:{m}:{s}.{us} [INF] hi'),
    row(group, 'elixir', 'Elixir’s Logger', '{h}:{m}:{s}.{ms} [info] hi', { clock: true }),
    row(
      group,
      'bgl',
      'BGL supercomputer',
      '- {epoch} 2005.06.03 R02 2005-06-03-15.42.50.{us} R02 RAS KERNEL INFO hi',
      UTC,
    ),
    row(
      group,
      'thunderbird',
      'Thunderbird supercomputer',
      '- {epoch} 2005.11.09 dn228 Nov 9 12:01:01 dn228/dn228 a: hi',
      { ...UTC, ...SECOND },
    ),
    row(group, 'rclone', 'Go’s log package (rclone)', '{Y}/{M}/{D} {h}:{m}:{s} DEBUG : hi', SECOND),
    row(group, 'multilog', 'multilog, TAI64N', '@4000000{tai}{ns} hi', UTC),
    row(group, 'svlogd', 'svlogd -tt', '{Y}-{M}-{D}_{h}:{m}:{s}.{us} hi'),
  ]
}

const FOLDER = join(import.meta.dirname, 'fixtures')

/** The genuine lines of a fixture. */
export const linesOf = ({ id }: Fixture): string => readFileSync(join(FOLDER, `${id}.log`), 'utf8')

/** Where its expectations are. */
export const expectedPath = ({ id }: Fixture): string => join(FOLDER, `${id}.json`)

/** A template with a time filled in; `wall` shows the clock as if it were UTC. */
export function filled(template: string, epoch: number, wall: Date, zone: string): string {
  const two = (n: number) => String(n).padStart(2, '0')
  const h = wall.getUTCHours()
  const ms = String(wall.getUTCMilliseconds()).padStart(3, '0')
  const values: Record<string, string> = {
    Y: String(wall.getUTCFullYear()),
    y: two(wall.getUTCFullYear() % 100),
    M: two(wall.getUTCMonth() + 1),
    D: two(wall.getUTCDate()),
    Dp: String(wall.getUTCDate()).padStart(2),
    d: String(wall.getUTCDate()),
    Mon: 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')[wall.getUTCMonth()]!,
    MON: 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ')[wall.getUTCMonth()]!,
    Day: 'Sun Mon Tue Wed Thu Fri Sat'.split(' ')[wall.getUTCDay()]!,
    h: two(h),
    hp: String(h).padStart(2),
    h12: String(h % 12 || 12),
    AMPM: h < 12 ? 'AM' : 'PM',
    m: two(wall.getUTCMinutes()),
    s: two(wall.getUTCSeconds()),
    ms,
    us: `${ms}000`,
    epoch: String(Math.floor(epoch / 1000)),
    epochms: String(epoch),
    tai: (Math.floor(epoch / 1000) + 10).toString(16).padStart(9, '0'),
    ns: (wall.getUTCMilliseconds() * 1_000_000).toString(16).padStart(8, '0'),
    zone,
  }
  return template.replaceAll(/\{(\w+)\}/g, (all, key) => values[key] ?? all)
}
