/**
 * Lines of each format as other programs write them: other fields in another order, short and long messages, a level that
 * comes late or is missing, colours, several writers, records of several lines, and text that is not ASCII. A figure of a
 * format is that of its worst shape.
 */
const LEVELS = ['debug', 'info', 'info', 'info', 'info', 'info', 'info', 'notice', 'warn', 'error']
/** Mixed as in a log of a busy hour, always the same: the level of a line by its number. */
const levelOf = (i) => LEVELS[(i * 7 + Math.floor(i / 10) * 3) % 10]
const NAMES = ['ann', 'bob', 'cleo', 'dmitri', 'eve', 'françois', 'grete']
const SHORT = ['ok', 'done', 'ready', 'retry', 'closed']
const UNICODE = [
  'Verbindung geschlossen – größer als erlaubt',
  '接続が閉じられました',
  'соединение закрыто',
  'naïve façade ✓',
]
const SQL =
  'SELECT o.id, o.total FROM orders o JOIN customers c ON c.id = o.customer WHERE c.region = $1 AND o.created > $2'

const short = (i) => SHORT[i % 5]
const usual = (i) =>
  `request ${(i * 2_654_435_761) % 1_000_003} from ${NAMES[i % 6]} took ${(i * 37) % 5000} us (${i % 17} rows)`
const long = (i) =>
  `${usual(i)}: ${SQL} /* ${'x'.repeat((i * 13) % 300)} */ user="${NAMES[i % 6]}" path=/var/lib/db/base/${i % 900}/${i % 77}`
const unicode = (i) => `${UNICODE[i % 4]} (${i})`
const mixed = (i) => [short, usual, long, unicode][(i >> 1) % 4](i)
const trace = (i) =>
  `\n\tat org.example.db.Session.run(Session.java:${i % 900})\n\tat org.example.db.Pool.take(Pool.java:77)`

const iso = (ms) => new Date(ms).toISOString()
const spaced = (ms) => iso(ms).replace('T', ' ')
const two = (n) => String(n).padStart(2, '0')
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const month = (ms) => MONTHS[new Date(ms).getUTCMonth()]
const micro = (i) => String((i * 997) % 1_000_000).padStart(6, '0')
const upper = (i) => levelOf(i).toUpperCase()
const severity = (i) => ({ debug: 7, info: 6, notice: 5, warn: 4, error: 3 })[levelOf(i)]
const json = (value) => JSON.stringify(value)

const log4j = (message) => (i, ms) =>
  `${spaced(ms).slice(0, 23).replace('.', ',')} ${upper(i) === 'NOTICE' ? 'INFO' : upper(i)} [${['main', 'http-nio-8080-exec-7', `pool-2-thread-${i % 40}`][i % 3]}] ${['o.e.db.Session', 'org.example.storage.engine.Compactor', 'c.e.Api'][i % 3]}: ${message(i)}`

/** By format and shape: a line (or several) by its number and time. */
export const SHAPES = {
  rfc5424: {
    bare: (i, ms) => `<${128 + severity(i)}>1 ${iso(ms)} db-4 broker ${1000 + (i % 300)} - - ${usual(i)}`,
    data: (i, ms) =>
      `<${24 + severity(i)}>1 ${iso(ms).slice(0, 19)}.${micro(i)}+00:00 db-${i % 3}.example.org postgres ${i % 30000} ID${i % 47} [origin ip="10.0.0.${i % 250}" software="pg"][meta sequenceId="${i}"] ${mixed(i)}`,
    writers: (i, ms) =>
      `<${[3, 10, 4, 16][i % 4] * 8 + severity(i)}>1 ${iso(ms)} host ${['sshd', 'systemd', 'kernel', 'dockerd'][i % 4]} ${i % 4 === 2 ? '-' : (i * 31) % 40000} - - \ufeff${unicode(i)}`,
    short: (i, ms) => `<${8 + severity(i)}>1 ${iso(ms).slice(0, 19)}Z h a - - - ${short(i)}`,
  },
  syslog: {
    late: (i, ms) =>
      `${month(ms)} ${String(new Date(ms).getUTCDate()).padStart(2)} ${iso(ms).slice(11, 19)} db-4 sshd[${(i * 7) % 32768}]: ${i % 3 ? 'Accepted publickey' : 'Failed password'} for ${NAMES[i % 6]} from 10.0.${i % 7}.${i % 250} port ${1024 + ((i * 17) % 60000)} ssh2`,
    writers: (i, ms) =>
      `${month(ms)} ${iso(ms).slice(8, 10)} ${iso(ms).slice(11, 19)} db-${i % 3} ${['kernel: ', `cron[${i % 999}]: `, `mysqld_exporter[77]: `, 'systemd: '][i % 4]}${levelOf(i)}: ${mixed(i)}`,
    iso: (i, ms) =>
      `${iso(ms).slice(0, 19)}.${micro(i)}+02:00 db-4 broker[${i % 999}]: ${upper(i)} ${usual(i)}`,
    short: (i, ms) => `${month(ms)} ${iso(ms).slice(8, 10)} ${iso(ms).slice(11, 19)} h a: ${short(i)}`,
  },
  logfmt: {
    first: (i, ms) =>
      `level=${levelOf(i)} ts=${iso(ms)} msg=${json(usual(i))} user=${NAMES[i % 6]} status=${200 + (i % 5) * 100}`,
    last: (i, ms) =>
      `time="${iso(ms).slice(0, 19)}Z" msg=${json(mixed(i))} component=tsdb duration=${i % 900}ms level=${levelOf(i)}`,
    shuffled: (i, ms) => {
      const pairs = [
        `ts=${iso(ms)}`,
        `level=${levelOf(i)}`,
        `msg=${json(usual(i))}`,
        `caller=head.go:${i % 900}`,
        `org=${i % 50}`,
      ]
      return [...pairs.slice(i % 5), ...pairs.slice(0, i % 5)].join(' ')
    },
    long: (i, ms) =>
      `ts=${iso(ms)} caller=metrics.go:159 component=frontend org_id=fake latency=fast query=${json(long(i))} query_hash=${(i * 7919) % 4_000_000_000} returned_lines=${i % 900} level=${levelOf(i)} throughput=${i % 90}.7MB total_bytes=${i % 90}GB`,
  },
  json: {
    late: (i, ms) =>
      json({
        timestamp: iso(ms),
        thread: `worker-${i % 61}`,
        message: usual(i),
        logger: 'org.example.Db',
        level: upper(i),
      }),
    nested: (i, ms) =>
      json({
        '@timestamp': iso(ms),
        log: { level: levelOf(i), logger: 'app.db', origin: { file: { name: 'db.go', line: i % 900 } } },
        message: mixed(i),
        http: { request: { method: 'GET', bytes: i % 9000 }, response: { status_code: 200 + (i % 4) * 100 } },
        tags: ['a', 'b'],
      }),
    pino: (i, ms) =>
      json({
        level: { debug: 20, info: 30, notice: 30, warn: 40, error: 50 }[levelOf(i)],
        time: ms,
        pid: 77,
        hostname: 'db-4',
        req: { id: i, url: `/api/items/${i % 1000}` },
        msg: usual(i),
      }),
    wide: (i, ms) =>
      json({
        ts: ms / 1000,
        level: levelOf(i),
        msg: long(i),
        ...Object.fromEntries(
          Array.from({ length: 20 }, (_, k) => [`field${k}`, k % 3 ? (i * k) % 997 : NAMES[(i + k) % 7]]),
        ),
      }),
    spaced: (i, ms) =>
      `{"time": "${spaced(ms).slice(0, 19)}", "severity": "${upper(i)}", "textPayload": ${json(unicode(i))}, "ok": true}`,
  },
  log4j: {
    spring: (i, ms) =>
      `${spaced(ms).slice(0, 23)}  ${upper(i).replace('NOTICE', 'INFO').padStart(5)} ${1 + (i % 9)} --- [${['main', 'nio-8080-exec-1', 'scheduling-1'][i % 3].padStart(15)}] ${'o.e.d.Session'.padEnd(40)} : ${mixed(i)}`,
    plain: log4j(usual),
    traces: (i, ms) => `${log4j(mixed)(i, ms)}${i % 10 === 3 ? trace(i) : ''}`,
    thread: (i, ms) =>
      `[${iso(ms).slice(0, 19)},${iso(ms).slice(20, 23)}][${upper(i).replace('NOTICE', 'INFO').padEnd(5)}][o.e.c.r.Allocation${i % 9}] [node-${i % 3}] ${usual(i)}`,
    hadoop: (i, ms) =>
      `${iso(ms).slice(2, 10).replaceAll('-', '/')} ${iso(ms).slice(11, 19)} ${upper(i).replace('NOTICE', 'INFO')} dfs.DataNode$PacketResponder: ${mixed(i)}`,
    colours: (i, ms) =>
      `\x1b[2m${iso(ms)}\x1b[0m \x1b[3${i % 7}m${upper(i).replace('NOTICE', 'INFO').padStart(5)}\x1b[0m \x1b[2mdb::engine\x1b[0m: ${usual(i)}`,
  },
  postgresql: {
    prefix: (i, ms) =>
      `${spaced(ms).slice(0, 23)} UTC [${1000 + ((i * 31) % 900)}] ${['LOG', 'WARNING', 'ERROR', 'LOG', 'LOG'][i % 5]}:  ${usual(i)}`,
    user: (i, ms) =>
      `${spaced(ms).slice(0, 19)} UTC:10.0.0.${i % 250}(${1024 + (i % 60000)}):app@shop:[${i % 30000}]:${['LOG', 'ERROR', 'LOG', 'FATAL', 'LOG'][i % 5]}:  ${mixed(i)}`,
    statements: (i, ms) =>
      `${spaced(ms).slice(0, 23)} CET [${i % 30000}] app@shop ${i % 10 === 3 ? `ERROR:  relation "x" does not exist at character 15\n${spaced(ms).slice(0, 23)} CET [${i % 30000}] app@shop STATEMENT:  SELECT *\n\tFROM x\n\tWHERE id = ${i}` : `LOG:  duration: ${i % 900}.123 ms  statement: ${SQL}`}`,
    session: (i, ms) =>
      `${spaced(ms).slice(0, 23)} UTC 6${(i * 7919).toString(16).padStart(7, '0').slice(0, 7)}.${(i % 900).toString(16)} ${i % 90}/${i % 900} psql ${['LOG', 'LOG', 'NOTICE', 'ERROR'][i % 4]}:  ${long(i)}`,
  },
  mysql: {
    usual: (i, ms) =>
      `${iso(ms).slice(0, 19)}.${micro(i)}Z ${i % 3000} [${['Note', 'Warning', 'System', 'ERROR'][i % 4]}] [MY-0${10000 + (i % 999)}] [${['Server', 'InnoDB', 'Repl'][i % 3]}] ${mixed(i)}`,
    old: (i, ms) =>
      `${spaced(ms).slice(0, 19)} ${140_000_000 + i} [${['Note', 'Warning', 'ERROR'][i % 3]}] InnoDB: ${usual(i)}`,
    local: (i, ms) =>
      `${iso(ms).slice(0, 19)}.${micro(i)}+02:00 0 [${['Note', 'Warning', 'ERROR'][i % 3]}] [MY-013360] [Server] ${unicode(i)}`,
    mariadb: (i, ms) =>
      `${spaced(ms).slice(0, 10)} ${String(new Date(ms).getUTCHours()).padStart(2)}:${iso(ms).slice(14, 19)} ${i % 90} [${['Note', 'Warning', 'ERROR'][i % 3]}] ${long(i)}`,
  },
  access: {
    common: (i, ms) =>
      `10.0.${i % 7}.${i % 250} - ${i % 3 ? '-' : NAMES[i % 5]} [${iso(ms).slice(8, 10)}/${month(ms)}/${iso(ms).slice(0, 4)}:${iso(ms).slice(11, 19)} +0000] "GET /items/${(i * 7919) % 100_000} HTTP/1.1" ${[200, 200, 304, 404, 500][i % 5]} ${(i * 31) % 50_000}`,
    timed: (i, ms) =>
      `10.0.0.${i % 250} - - [${iso(ms).slice(8, 10)}/${month(ms)}/${iso(ms).slice(0, 4)}:${iso(ms).slice(11, 19)} +0200] "POST /api/v1/${NAMES[i % 5]}?q=${i} HTTP/2.0" ${[201, 200, 429, 503][i % 4]} ${i % 900} "https://example.org/${i % 99}" "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15" rt=0.${i % 900} uct="0.001" urt="0.${i % 900}"`,
    v6: (i, ms) =>
      `2001:db8::${(i % 65536).toString(16)} - - [${iso(ms).slice(8, 10)}/${month(ms)}/${iso(ms).slice(0, 4)}:${iso(ms).slice(11, 19)} +0000] "GET /${encodeURIComponent(UNICODE[i % 4])} HTTP/1.1" ${[200, 500][i % 2]} - "-" "curl/8.5.0"`,
    hosts: (i, ms) =>
      `www.example.org:443 192.168.${i % 9}.${i % 250} - - [${iso(ms).slice(8, 10)}/${month(ms)}/${iso(ms).slice(0, 4)}:${iso(ms).slice(11, 19)} +0000] "GET / HTTP/1.1" ${[200, 404][i % 2]} ${i % 5000} "-" "Googlebot/2.1 (+http://www.google.com/bot.html)"`,
  },
  cri: {
    plain: (i, ms) =>
      `${iso(ms).slice(0, 19)}.${micro(i)}789Z ${i % 9 ? 'stdout' : 'stderr'} F ${log4j(mixed)(i, ms)}`,
    json: (i, ms) => `${iso(ms).slice(0, 19)}.${micro(i)}789+02:00 stdout F ${SHAPES.json.late(i, ms)}`,
    logfmt: (i, ms) => `${iso(ms).slice(0, 19)}.${micro(i)}789Z stderr F ${SHAPES.logfmt.first(i, ms)}`,
    parts: (i, ms) =>
      `${i % 10 === 3 ? `${iso(ms).slice(0, 19)}.${micro(i)}789Z stdout P ${log4j(long)(i, ms)}\n${iso(ms).slice(0, 19)}.${micro(i)}789Z stdout F the rest` : `${iso(ms).slice(0, 19)}.${micro(i)}789Z stdout F ${log4j(usual)(i, ms)}`}`,
    klog: (i, ms) =>
      `${iso(ms).slice(0, 19)}.${micro(i)}789Z stderr F ${{ debug: 'I', info: 'I', notice: 'I', warn: 'W', error: 'E' }[levelOf(i)]}${two(new Date(ms).getUTCMonth() + 1)}${iso(ms).slice(8, 10)} ${iso(ms).slice(11, 19)}.${micro(i)}       1 reflector.go:${i % 900}] ${json(usual(i))} err="x"`,
  },
  docker: {
    plain: (i, ms) =>
      json({
        log: `${log4j(mixed)(i, ms)}\n`,
        stream: i % 9 ? 'stdout' : 'stderr',
        time: `${iso(ms).slice(0, 19)}.${micro(i)}789Z`,
      }),
    json: (i, ms) =>
      json({
        log: `${SHAPES.json.late(i, ms)}\n`,
        stream: 'stdout',
        time: `${iso(ms).slice(0, 19)}.${micro(i)}789Z`,
      }),
    logfmt: (i, ms) =>
      json({
        log: `${SHAPES.logfmt.last(i, ms)}\n`,
        stream: 'stderr',
        attrs: { tag: 'db' },
        time: `${iso(ms).slice(0, 19)}.${micro(i)}Z`,
      }),
    short: (i, ms) =>
      json({
        log: `[${iso(ms)}] ${upper(i)} ${short(i)}\r\n`,
        stream: 'stdout',
        time: `${iso(ms).slice(0, 19)}.${micro(i)}789Z`,
      }),
  },
  glog: {
    usual: (i, ms) =>
      `${{ debug: 'I', info: 'I', notice: 'I', warn: 'W', error: 'E' }[levelOf(i)]}${two(new Date(ms).getUTCMonth() + 1)}${iso(ms).slice(8, 10)} ${iso(ms).slice(11, 19)}.${micro(i)} ${String(i % 9999).padStart(7)} server.go:${i % 900}] ${mixed(i)}`,
    year: (i, ms) =>
      `${{ debug: 'I', info: 'I', notice: 'I', warn: 'W', error: 'E' }[levelOf(i)]}${iso(ms).slice(0, 10).replaceAll('-', '')} ${iso(ms).slice(11, 19)}.${micro(i)} ${i % 9999} a.cc:${i % 900}] ${usual(i)}`,
    short: (i, ms) =>
      `${{ debug: 'I', info: 'I', notice: 'I', warn: 'W', error: 'E' }[levelOf(i)]}${two(new Date(ms).getUTCMonth() + 1)}${iso(ms).slice(8, 10)} ${iso(ms).slice(11, 19)}.${micro(i)} 1 a.go:1] ${short(i)}`,
    trace: (i, ms) =>
      `${SHAPES.glog.usual(i, ms)}${i % 10 === 3 ? '\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:7' : ''}`,
  },
}

const START = Date.UTC(2026, 10, 14, 9)

/** A log of about `size` bytes: a line each 6 ms. */
export function* linesOf(shape, size) {
  let text = ''
  for (let i = 0, written = 0; written < size; i++) {
    const line = `${shape(i, START + i * 6)}\n`
    written += line.length
    text += line
    if (text.length > 1 << 16) {
      yield text
      text = ''
    }
  }
  yield text
}
