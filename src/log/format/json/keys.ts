/** The role of a member of a JSON line. */
export type Role = 'time' | 'level' | 'message' | 'tag' | 'source'

/**
 * How loggers spell them: zap, pino, slog, bunyan, zerolog, logrus, log4j, Logstash, MongoDB, Serilog, structlog, ECS,
 * OpenTelemetry, Google Cloud, AWS Lambda, HashiCorp, PostgreSQL's jsonlog, MySQL, journald, nginx, GELF, CloudWatch.
 * A dot is either in the key or between two: `log.level`, or `level` in `log`.
 */
const KEYS: Record<Role, string> = {
  time: `time ts timestamp @timestamp t @t datetime date asctime instant timeMillis time_local time_iso8601
    __REALTIME_TIMESTAMP timeUnixNano time_unix_nano
    timestampSeconds eventTime requestReceivedTimestamp`,
  level: `level lvl severity log.level levelname level_name levelName loglevel log_level logLevel s @l l L @level
    severity_text severityText error_severity label PRIORITY priority severity_number severityNumber jsonPayload.level`,
  message: `msg message event @m @mt @message MESSAGE M body short_message log textPayload messageTemplate
    renderedMessage fields.message jsonPayload.message jsonPayload.msg body.stringValue errorMessage
    elasticsearch.slowlog.message`,
  tag: `logger component module c N target subsystem SYSLOG_IDENTIFIER log.logger logger_name loggerName @module
    SourceContext Properties.SourceContext scope.name instrumentation_scope.name InstrumentationScope.name _logger
    _logger_name logName`,
  source: 'caller source C',
}

/** The role of a member by its key, or by two keys with a dot between. */
export const ROLES = new Map<string, Role>()
/** Keys of objects that may hold a member with a role. */
export const PARENTS = new Set<string>()
for (const role of ['time', 'level', 'message', 'tag', 'source'] as const)
  for (const key of KEYS[role].split(/\s+/)) {
    const capital = key[0]!.toUpperCase() + key.slice(1)
    for (const spelled of key.length > 1 && role !== 'tag' && role !== 'source' ? [key, capital] : [key]) {
      ROLES.set(spelled, role)
      const dot = spelled.indexOf('.')
      if (dot > 0) PARENTS.add(spelled.slice(0, dot))
    }
  }

/** OpenTelemetry's numbers: 1 to 4 are trace, 5 to 8 debug, and so on up to 24. */
export const isOtelNumber = (key: string) => /^severity_?number$/i.test(key)

/**
 * Systems whose JSON has names of its own for what other formats have, too. One of the keys shows the system; `names` are
 * the fields by their names here.
 */
export interface Dialect {
  /** What shows it. */
  key: string
  names: Record<string, string>
  /** PostgreSQL writes how long something took into the message. */
  postgresql?: true
}

export const DIALECTS: readonly Dialect[] = [
  { key: 'error_severity', names: { dbname: 'db', remote_host: 'client' }, postgresql: true },
  { key: '__REALTIME_TIMESTAMP', names: { _PID: 'pid', _HOSTNAME: 'host' } },
  { key: 'took_millis', names: { took_millis: 'duration' } },
  {
    key: 'elasticsearch.slowlog.took_millis',
    names: { 'elasticsearch.slowlog.took_millis': 'duration' },
  },
]

/**
 * Access logs: members by the groups of read/vocabulary.ts. Caddy's and nginx' times are seconds. The first member with
 * a value counts.
 */
export const ACCESS_MEMBERS: Record<string, readonly string[]> = {
  client: ['request.client_ip', 'request.remote_ip', 'request.remote_addr', 'remote_addr'],
  user: ['user_id', 'remote_user'],
  method: ['request.method', 'request_method'],
  target: ['request.uri', 'request_uri'],
  protocol: ['request.proto', 'server_protocol'],
  request: ['request'],
  status: ['status'],
  bytes: ['size', 'body_bytes_sent', 'bytes_sent'],
  referrer: ['request.headers.Referer', 'http_referer', 'http_referrer'],
  agent: ['request.headers.User-Agent', 'http_user_agent'],
  duration_s: ['duration', 'request_time'],
  upstream: ['upstream_addr'],
}
