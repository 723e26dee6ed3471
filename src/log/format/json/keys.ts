/** The role of a member of a JSON line. */
export type Role = 'time' | 'level' | 'message'

/**
 * How loggers spell the three: zap, pino, slog, bunyan, zerolog, log4j, MongoDB, Serilog, structlog, ECS, PostgreSQL's
 * jsonlog, MySQL, journald, nginx, GELF, CloudWatch.
 */
const KEYS: Record<Role, readonly string[]> = {
  time: [
    'time',
    'ts',
    'timestamp',
    '@timestamp',
    't',
    '@t',
    'datetime',
    'date',
    'asctime',
    'instant',
    'timeMillis',
    'time_local',
    'time_iso8601',
    '__REALTIME_TIMESTAMP',
  ],
  level: [
    'level',
    'lvl',
    'severity',
    'log.level',
    'levelname',
    'loglevel',
    's',
    '@l',
    'l',
    'L',
    'severity_text',
    'error_severity',
    'label',
    'PRIORITY',
  ],
  message: [
    'msg',
    'message',
    'event',
    '@m',
    '@mt',
    '@message',
    'MESSAGE',
    'M',
    'body',
    'short_message',
    'log',
  ],
}

/** Members that become tags, and that become a source. */
export const TAGS = ['logger', 'component', 'module', 'c', 'N', 'target', 'subsystem', 'SYSLOG_IDENTIFIER']
export const SOURCES = ['caller', 'source', 'C']

/** The role of a member by its key. */
export const ROLES = new Map<string, Role>()
for (const role of ['time', 'level', 'message'] as const)
  for (const key of KEYS[role]) {
    ROLES.set(key, role)
    if (key.length > 1) ROLES.set(key[0]!.toUpperCase() + key.slice(1), role)
  }
