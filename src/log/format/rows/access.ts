import type { Row } from './row.ts'

const DATE = String.raw`(?<y>\d{4})-(?<mon>\d\d)-(?<d>\d\d)`
const CLOCK = String.raw`(?<h>\d\d):(?<min>\d\d):(?<s>\d\d)(?:\.(?<f>\d+))?`
/** `15/Nov/2026:03:10:00 +0100` in brackets, and how it looks. */
const BRACKETED = String.raw`\[(?<d>\d\d)/(?<mon>[A-Z][a-z]{2})/(?<y>\d{4}):${CLOCK}(?: (?<z>[+-]\d{4}))?\]`
const BRACKETED_SHAPE = '[00/^??/0000:00:00:00'

/** A quoted text with escapes. */
const QUOTED = String.raw`"(?:[^"\\]|\\.)*"`
/** A request in quotes. Some servers do not escape quotes in it: only one before a status ends it. */
const REQUEST = String.raw`"(?<request>(?:[^"\\]|\\.|"(?! (?:\d{3}|-)(?: |$)))*)"`
/** The request, the status and the size of a common access log, without names. */
const COMMON = String.raw`^"(?:[^"\\]|\\.|"(?! (?:\d{3}|-)(?: |$)))*" (?:\d{3}|-) (?:\d+|-)`
/** A word, a quoted text or a name in brackets. */
const PART = String.raw`(?: (?:${QUOTED}|\[[^\]]*\]|[^\s"[]\S*))`
const ADDRESS = String.raw`(?:\d{1,3}(?:\.\d{1,3}){3}|\[[\da-fA-F:]+\]|[\w-]+(?:\.[\w-]+)+|localhost):\d{1,5}|unix:[^\s",]+`

/** What follows the times of common and combined logs. */
const COMBINED: readonly RegExp[] = [
  new RegExp(
    String.raw`^${REQUEST} (?<status>\d{3}|-)(?= |$)(?: (?<bytes>\d+|-)(?= |$))?(?: (?<duration_us>\d+)(?= "))?(?: "(?<referrer>(?:[^"\\]|\\.)*)" "(?<agent>(?:[^"\\]|\\.)*)")?`,
  ),
  // nginx's times are seconds with a fraction, Apache's %D is microseconds without one.
  new RegExp(String.raw`${COMMON}${PART}*? "?(?<duration_s>\d+\.\d{1,9})"?(?= |$)`),
  new RegExp(String.raw`${COMMON}(?: ${QUOTED})* (?<duration_us>\d+)$`),
  / (?:rt|request_time)="?(?<duration_s>\d+\.\d+)"?/,
  new RegExp(String.raw`${COMMON}${PART}*? "?(?:\w+=)?"?(?<upstream>${ADDRESS})"?(?=[ ,]|$)`),
]

/** Whoever asked: a virtual host may come first, and then an address. */
const CLIENT = String.raw`^(?:(?<vhost>\S{1,260}) (?=(?:[\da-fA-F]*[.:][\da-fA-F.:]* \S|\S+ - )))?(?<client>\S{1,260}) (?<ident>\S{1,100}) (?<user>[^[]{1,200}?) `

const HAPROXY: Omit<Row, 'head' | 'shape'> = {
  name: 'haproxy',
  within: BRACKETED_SHAPE,
  inside: [
    /^(?<frontend>\S+) (?<upstream>\S+) [-+\d]+\/[-+\d]+\/[-+\d]+\/[-+\d]+\/\+?(?<duration_ms>\d+) (?<status>\d{3}|-1) \+?(?<bytes>\d+) \S+ \S+ (?<termination>\S{2,4}) \S+ \S+ (?:\{[^}]*\} ){0,2}"(?<request>(?:[^"\\]|\\.)*)/,
  ],
  status: { word: 3, separator: 0x20 },
}
/** What shows that a line is HAProxy's HTTP log. */
const HAPROXY_NEXT = String.raw`(?=\S+ \S+/\S+ [-+\d]+/[-+\d]+/[-+\d]+/[-+\d]+/\+?\d+ )`
const HAPROXY_CLIENT = String.raw`(?<client>\S{1,100}):(?<port>\d{1,5})`
const PROCESS = String.raw`(?<host>\S{1,260}) (?<tag>[\w.-]{1,60})\[(?<pid>\d+)\]: `
const UNREAD_BRACKETS = String.raw`\[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d\.\d+\]`

/**
 * Access logs. Their level follows from the status, and their message is what follows the time. Behind syslog, HAProxy's
 * time is syslog's: requests are logged when they end, and the other time is that of their beginning.
 */
export const ACCESS: readonly Row[] = [
  {
    ...HAPROXY,
    shape: ['^?? ?? 00:00:00 ', '<00>^?? ?? 00:00:00 ', '<000>^?? ?? 00:00:00 '],
    head: new RegExp(
      String.raw`^(?:<\d{2,3}>)?(?<mon>[A-Z][a-z]{2}) (?<d>[ \d]\d) ${CLOCK} ${PROCESS}${HAPROXY_CLIENT} ${UNREAD_BRACKETS} ${HAPROXY_NEXT}`,
    ),
  },
  {
    ...HAPROXY,
    shape: ['0000-00-00T00:00:00'],
    head: new RegExp(
      String.raw`^${DATE}T${CLOCK}(?<z>Z|[+-]\d\d:?\d\d) ${PROCESS}${HAPROXY_CLIENT} ${UNREAD_BRACKETS} ${HAPROXY_NEXT}`,
    ),
  },
  {
    ...HAPROXY,
    shape: ['*'],
    head: new RegExp(`^${HAPROXY_CLIENT} ${BRACKETED} ${HAPROXY_NEXT}`),
  },
  {
    name: 'access',
    shape: ['*'],
    within: BRACKETED_SHAPE,
    head: new RegExp(`${CLIENT}${BRACKETED} (?=")`),
    inside: COMBINED,
    status: 'quoted',
  },
  {
    name: 'envoy',
    shape: ['[0000-00-00T00:00:00.000Z] "'],
    head: new RegExp(String.raw`^\[${DATE}T${CLOCK}(?<z>Z)\] (?="[^"]*" \d{1,3} \S+ )`),
    inside: [
      new RegExp(
        String.raw`^${REQUEST} (?<status>\d{3}) (?<flags>\S+) (?:\S+ \S+ ${QUOTED} )?(?<received>\d+) (?<bytes>\d+) (?<duration_ms>\d+) \S+ "(?<client>[^",]*)[^"]*" "(?<agent>(?:[^"\\]|\\.)*)" "(?<request_id>[^"]*)" "(?<authority>[^"]*)" "(?<upstream>[^"]*)"`,
      ),
    ],
    status: 'quoted',
  },
  {
    name: 'alb',
    shape: [
      'http 0000-00-00T',
      'https 0000-00-00T',
      'h2 0000-00-00T',
      'ws 0000-00-00T',
      'wss 0000-00-00T',
      'grpcs 0000-00-00T',
    ],
    head: new RegExp(
      String.raw`^(?<type>[a-z0-9]+) ${DATE}T${CLOCK}(?<z>Z) (?=\S+ \S+ \S+ [-\d.]+ [-\d.]+ [-\d.]+ )`,
    ),
    inside: [
      /^\S+ (?<client>\S+) (?<upstream>\S+) (?<duration_s>[-\d.]+) (?<duration_s2>[-\d.]+) (?<duration_s3>[-\d.]+) (?<status>\d{3}|-) \S+ (?<received>\d+) (?<bytes>\d+) "(?<request>(?:[^"\\]|\\.)*)" "(?<agent>(?:[^"\\]|\\.)*)"/,
    ],
    status: { word: 6, separator: 0x20 },
  },
  {
    name: 'cloudfront',
    shape: ['0000-00-00\t00:00:00\t'],
    head: new RegExp(String.raw`^${DATE}\t${CLOCK}\t(?=\S+\t\d+\t\S+\t[A-Z]+\t)`),
    utc: true,
    unpaired: true,
    inside: [
      /^\S+\t(?<bytes>\d+)\t(?<client>\S+)\t(?<method>\S+)\t(?<host>\S+)\t(?<path>\S+)\t(?<status>\d{3}|-|0+)\t(?<referrer>[^\t]*)\t(?<agent>[^\t]*)\t(?<query>[^\t]*)(?:\t[^\t]*){5}(?:\t(?<received>[^\t]*)\t(?<duration_s>[\d.]+)(?:\t[^\t]*){4}\t(?<protocol>[^\t]*))?/,
    ],
    status: { word: 6, separator: 0x09 },
  },
]
