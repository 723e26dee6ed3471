/**
 * What a program writes around a message, as patterns with named groups: `level` must be the line's level, `tag` is the
 * logger, `file` and `line` are the source, and every other group is a field (read/vocabulary.ts).
 */
export interface Program {
  /** What stands before the time, if there is more than a level. */
  before?: RegExp
  /** What stands between the time and the message. */
  head: RegExp
  /** What stands behind the message, at the end of the first line. */
  tail?: RegExp
  /** Patterns whose groups are more fields. They are read from the message, which stays as it is. */
  inside?: readonly RegExp[]
  /** Whether lines without a time have this head, too: inside a container's log, for instance. */
  timeless?: true
}

// Every run is bounded, because a line may be long and hostile.
const LEVEL = String.raw`\[?(?<level>[A-Za-z]{3,13}\d?) {0,8}\]?`
const LOGGER = String.raw`(?<tag>[A-Za-z_$][\w$./-]{0,200})`
/** A name with dots. Only such a name can be told from a word of the message: `failed: no disk` names no logger. */
const DOTTED = String.raw`[A-Za-z_$][\w$-]{0,100}(?:\.[\w$-]{1,100}){1,20}`
const CLASS = String.raw`(?<tag>${DOTTED}|[A-Z][a-z0-9]{1,100}[A-Z]\w{0,100}|root)`
const THREAD = String.raw`\[(?<thread>[^\]=]{1,500})\]`
const pattern = (...parts: string[]) => new RegExp(`^${parts.join('')}`)

/** MySQL names whom it refuses: `'app'@'10.0.0.7'`, `to db: 'shop' user: 'app' host: '10.0.0.7'`. */
const MYSQL_USER: readonly RegExp[] = [
  /\bto db: '(?<db>[^']{1,100})' user: '(?<user>[^']{1,100})' host: '(?<client>[^']{1,260})'/,
  /\buser '(?<user>[^']{1,100})'@'(?<client>[^']{1,260})'/,
]

/** Programs by what they write, the most particular first. */
export const PROGRAMS: readonly Program[] = [
  // MariaDB and MySQL: `3 [Warning] …`, `0 [System] [MY-010116] [Server] …`
  {
    head: /^(?<thread>\d{1,20}) \[(?<level>[A-Za-z]{1,20})\] (?:\[(?<code>MY-\d{1,10})\] \[(?<tag>\w{1,40})\] )?/,
    inside: MYSQL_USER,
  },
  // ClickHouse: `[ 77 ] {query id} <Error> executeQuery: …`
  {
    head: /^\[ (?<thread>\d{1,20}) \] \{(?<query_id>[^}]{0,100})\} <(?<level>[A-Za-z]{1,20})> (?:(?<tag>[^:\s]{1,100}): )?/,
  },
  // Ruby: `#12] ERROR -- program: …`
  { head: /^#(?<pid>\d{1,20})\] {1,2}(?<level>[A-Z]{1,20}) -- (?<tag>[^:]{0,100}): / },
  // nginx: `[error] 13#13: *1 open() … failed, client: 10.0.0.7, request: "GET / HTTP/1.1"`
  {
    head: /^\[(?<level>[a-z]{3,6})\] (?<pid>\d{1,20})#(?<thread>\d{1,20}): (?:\*(?<connection>\d{1,20}) )?/,
    inside: [
      /, client: (?<client>[^\s,]{1,100})/,
      /, server: (?<server>[^\s,]{1,260})/,
      /, request: "(?<request>.{0,8000}?)"(?=, \w+: |$)/,
      /, upstream: "(?:\w{1,20}:\/\/)?(?<upstream>unix:[^":]{1,200}|[^"/]{1,260})/,
      /, host: "(?<host>[^"]{1,260})"/,
    ],
  },
  // Redis: `1234:M 15 Nov 2026 02:10:00.123 * …`
  { before: /^(?<pid>\d{1,20}):(?<role>[A-Z])$/, head: /^[.*#-] / },
  // Cassandra: `INFO  [main] 2026-11-15 02:10:00,123 CassandraDaemon.java:650 - …`
  {
    before: pattern(LEVEL, ' +', THREAD, '$'),
    head: /^(?:(?<file>[\w$.-]{1,100}):(?<line>\d{1,9}) - )?/,
  },
  // PgBouncer: `[1234] LOG C-0x5581: shop/app@10.0.0.7:51234 …`
  {
    head: /^\[(?<pid>\d{1,20})\] (?<level>[A-Z]{3,10}) (?=[CS]-0x)/,
    inside: [
      /^[CS]-0x[\da-f]+: (?<db>[^/\s]{1,100})\/(?<user>[^@\s]{1,100})@(?<client>\[?[\da-fA-F.:]+\]?:\d{1,5}|unix[^\s:]*)/,
    ],
  },
  // Spring Boot: `INFO 1 --- [app] [           main] c.e.App : …`
  {
    head: pattern(
      LEVEL,
      String.raw` {1,8}(?<pid>\d{1,20}) --- (?:\[(?<app>[^\]]{0,100})\] )?`,
      THREAD,
      String.raw` (?:\[[^\]]{0,100}\] )?`,
      // Tomcat's loggers have brackets: `o.a.c.c.C.[.[.[/].[dispatcherServlet]`.
      String.raw`(?<tag>[A-Za-z_$][\w$./[\]-]{0,200})`,
      ' {0,60}: ',
    ),
  },
  // ZooKeeper: `[myid:1] - INFO  [main:QuorumPeerConfig@136] - …`
  {
    head: /^(?:\[myid:(?<node>\d*)\] )?- (?<level>[A-Z]{4,5}) {1,2}\[(?<thread>[^\]]{1,500}):(?<tag>[\w$.]{1,200})@\d{1,9}\] - /,
  },
  // Elasticsearch: `[INFO ][o.e.n.Node               ] [node-1] …`
  {
    head: /^\[(?<level>[A-Z]{4,5}) ?\]\[(?<tag>[^\]]{1,200}?) {0,60}\] (?:\[(?<node>[^\]]{0,200})\] ?)?/,
    inside: [/\btook_millis\[(?<duration_ms>\d{1,15})\]/],
    timeless: true,
  },
  // TiDB: `[INFO] [main.go:12] ["Welcome"] …`
  { head: /^\[(?<level>[A-Z]{4,5})\] \[(?<file>[^\]:\s]{1,200}):(?<line>\d{1,9})\] / },
  // Celery: `INFO/MainProcess] …`
  { head: /^(?<level>[A-Z]{4,8})\/(?<thread>[\w-]{1,100})\] / },
  // Monolog: `app.INFO: …`; env_logger: `INFO  server::http] …`
  { head: /^(?<tag>[\w-]{1,60})\.(?<level>[A-Z]{4,9}): / },
  { head: /^(?<level>[A-Z]{4,5}) {1,2}(?<tag>[\w:-]{1,200})\] / },
  // Airflow: `{taskinstance.py:1150} INFO - …`
  { head: /^\{(?<file>[^}:\s]{1,200}):(?<line>\d{1,9})\} (?<level>[A-Z]{4,8}) - / },
  // Loguru: `| INFO     | app.main:run:7 - …`
  { head: /^\| (?<level>[A-Z]{4,8}) {0,8}\| (?<tag>[\w.<>]{1,200}):[\w.<>]{1,200}:\d{1,9} - / },
  // Logback and Log4j: `[main] INFO  com.example.App - …`, `INFO  [main] com.example.App - …`
  {
    head: pattern(
      THREAD,
      ' {1,8}',
      LEVEL,
      ' {1,8}',
      CLASS,
      String.raw`(?: \[[^\]]{0,200}\])?(?: {1,60}-|:) `,
    ),
    timeless: true,
  },
  {
    head: pattern(LEVEL, ' {1,8}', THREAD, ' {1,8}', CLASS, String.raw`(?::\d{1,9})?(?: {1,60}-|:) `),
    timeless: true,
  },
  { head: pattern(LEVEL, ' {1,8}', CLASS, ' {1,8}', THREAD, '(?: {1,8}-|:) '), timeless: true },
  // Kafka: `INFO [KafkaServer id=0] started (kafka.server.KafkaServer)`
  { head: pattern(LEVEL, ' {1,8}'), tail: new RegExp(String.raw` \((?<tag>${DOTTED})\)$`), timeless: true },
  // Log4j without a thread, Hadoop: `INFO  com.example.App - …`, `INFO namenode.NameNode: …`
  { head: pattern(LEVEL, ' {1,8}', CLASS, '(?: {1,60}-|:) '), timeless: true },
  // Python: `- app.db - WARNING - …`, `WARNING:app.db:…`, `app.db WARNING …`
  { head: pattern('- ', LOGGER, ' - (?:(?<thread>[^-]{1,100}) - )?', LEVEL, ' - ') },
  { head: pattern('(?<level>[A-Z]{4,8}):', LOGGER, ':'), timeless: true },
  { head: pattern(CLASS, ' {1,8}', LEVEL, ':? '), timeless: true },
  // Neo4j, Alembic: `INFO  [o.n.k.i.Database] …`; Vault, Consul, Nomad: `[INFO]  agent.server: …`
  { head: pattern(LEVEL, String.raw` {1,8}\[(?<tag>${DOTTED})\] `), timeless: true },
  { head: pattern(String.raw`\[(?<level>INFO|WARN)\] {2}`, LOGGER, ': '), timeless: true },
  // `[7] [INFO] …`, `INFO [7] …`, `[main] INFO …`, `INFO [main] …`
  { head: pattern(String.raw`\[(?<pid>\d{1,20})\] `, LEVEL, '[ :]{1,8}'), timeless: true },
  { head: pattern(LEVEL, String.raw` {1,8}\[(?<pid>\d{1,20})\] `), timeless: true },
  { head: pattern(THREAD, ' {1,8}', LEVEL, '[ :]{1,8}'), timeless: true },
  { head: pattern(LEVEL, ' {1,8}', THREAD, ':? {1,8}'), timeless: true },
]

/** syslog's lines behind their times; they need no level. */
export const SYSLOG: readonly Program[] = [
  // RFC 5424: `db-4 postgres 12 - - ready`
  {
    before: /^<\d{1,3}>1$/,
    head: /^(?<host>\S{1,255}) (?<tag>\S{1,100}) (?<pid>\S{1,128}) (?<msgid>\S{1,100}) (?:-|(?:\[(?:[^"\]]|"(?:[^"\\]|\\.){0,4000}"){0,4000}\]){1,20})(?: \ufeff?|$)/,
  },
  // RFC 3164 and rsyslog: `db-4 postgres[12]: ready`
  { head: /^(?<host>[\w.:-]{1,255}) (?<tag>[\w./()-]{1,100})(?:\[(?<pid>\d{1,20})\]|(?<= kernel)): / },
  { before: /^(?:<\d{1,3}>)?$/, head: /^(?<host>[\w.:-]{1,255}) (?<tag>[\w./()-]{1,100}): / },
]
