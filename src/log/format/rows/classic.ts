import type { Row } from './row.ts'

const CLOCK = String.raw`(?<h>\d\d):(?<min>\d\d):(?<s>\d\d)(?:[.,](?<f>\d+))?`
const DAY_NAME = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)'
const MONTH_NAME = '(?<mon>[A-Z][a-z]{2})'

/** A supercomputer's line begins with `-`, or with the kind of an alert. */
const ALERTS = ['- 000000000', ...Array.from({ length: 14 }, (_, i) => `^${'?'.repeat(i + 1)} 000000000`)]

/** Servers, clusters and runtimes with unique time formats. */
export const CLASSIC: readonly Row[] = [
  {
    // Without a level it may be dmesg -T.
    name: 'apache',
    shape: '[^?? ^?? ?? 00:00:00',
    head: new RegExp(
      String.raw`^\[${DAY_NAME} ${MONTH_NAME} (?<d>[ \d]\d) ${CLOCK} (?<y>\d{4})\] (?:\[(?:(?<tag>[\w-]*):)?(?<level>[a-z]+\d?)\] )?(?:\[pid (?<pid>\d+)(?::tid (?<thread>\d+))?\] )?(?:\[(?:client|remote) (?<client>[^\]\s]+)\] )?`,
    ),
    levels: Object.fromEntries([1, 2, 3, 4, 5, 6, 7, 8].map((n) => [`trace${n}`, 0])),
  },
  {
    name: 'oracle',
    shape: '^?? ^?? ?? 00:00:00 ',
    head: new RegExp(
      String.raw`^${DAY_NAME} ${MONTH_NAME} (?<d>[ \d]\d) ${CLOCK} (?:(?<z>[A-Z]{3,5}) )?(?<y>\d{4})\s*$`,
    ),
    below: true,
  },
  {
    name: 'oracle',
    shape: '0000-00-00T00:00:00.000000',
    head: new RegExp(String.raw`^(?<y>\d{4})-(?<mon>\d\d)-(?<d>\d\d)T${CLOCK}(?<z>[+-]\d\d:\d\d)\s*$`),
    below: true,
  },
  {
    name: 'spark',
    shape: '00/00/00 00:00:00 ',
    head: new RegExp(
      String.raw`^(?<y>\d\d)/(?<mon>\d\d)/(?<d>\d\d) ${CLOCK} (?<level>[A-Z]{4,5}) (?:(?<tag>[^:\s]+): )?`,
    ),
  },
  {
    name: 'hdfs',
    shape: '000000 000000 0',
    head: /^(?<y>\d\d)(?<mon>\d\d)(?<d>\d\d) (?<h>\d\d)(?<min>\d\d)(?<s>\d\d) (?<thread>\d+) (?<level>[A-Z]{4,5}) (?:(?<tag>[^:\s]+): )?/,
  },
  {
    name: 'tomcat',
    shape: '00-???-0000 00:00:00',
    head: new RegExp(
      String.raw`^(?<d>\d\d)-${MONTH_NAME}-(?<y>\d{4}) ${CLOCK} (?<level>[A-Z]{4,7}) \[(?<thread>[^\]]{0,100})\] (?:(?<tag>\S+) )?`,
    ),
  },
  {
    name: 'java.util.logging',
    shape: ['^?? 00, 0000', '^?? 0, 0000'],
    // Since Java 20 the space before AM is a narrow one, here as the bytes of its UTF-8.
    head: new RegExp(
      String.raw`^${MONTH_NAME} (?<d>\d{1,2}), (?<y>\d{4}),? (?<h>\d{1,2}):(?<min>\d\d):(?<s>\d\d)(?: |\u202f|\xe2\x80\xaf)(?<ampm>[AP]M) (?<tag>\S+)(?: (?<method>\S+))?\s*$`,
    ),
    second: /^(?<level>SEVERE|WARNING|INFO|CONFIG|FINE|FINER|FINEST): /,
  },
  {
    name: 'android',
    shape: '00-00 00:00:00.000 ',
    head: new RegExp(
      String.raw`^(?<mon>\d\d)-(?<d>\d\d) ${CLOCK} +(?<pid>\d+) +(?<thread>\d+) (?<level>[VDIWEFA]) (?<tag>[^:]{0,80}?) *: `,
    ),
    levels: { V: 0, D: 0, I: 1, W: 2, E: 3, F: 4, A: 4 },
  },
  {
    name: 'bgl',
    shape: ALERTS,
    head: /^(?:-|(?<alert>[A-Z]\w*)) (?<epoch>\d{9,10}) \d{4}\.\d\d\.\d\d (?<node>\S+) \d{4}-\d\d-\d\d-\d\d\.\d\d\.\d\d\.(?<f>\d+) \S+ (?<type>[A-Z]+) (?<tag>[A-Z]+) (?<level>[A-Z]+) /,
    levels: { FAILURE: 4 },
  },
  {
    name: 'thunderbird',
    shape: ALERTS,
    head: /^(?:-|(?<alert>[A-Z]\w*)) (?<epoch>\d{9,10}) \d{4}\.\d\d\.\d\d (?<node>\S+) [A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d \S+ /,
  },
  {
    name: 'php',
    shape: '[00-^??-0000 00:00:00',
    head: new RegExp(
      String.raw`^\[(?<d>\d\d)-${MONTH_NAME}-(?<y>\d{4}) ${CLOCK}(?: (?:(?<z>[A-Z]{3,5})|\S+))?\] (?:(?:PHP )?(?<level>warning|notice|fatal|parse|deprecated|error|alert|debug)(?: error)?: +)?`,
      'i',
    ),
    levels: { Parse: 4, Deprecated: 2 },
  },
  {
    name: 'nats',
    shape: '[0',
    head: new RegExp(
      String.raw`^\[(?<pid>\d{1,10})\] (?<y>\d{4})/(?<mon>\d\d)/(?<d>\d\d) ${CLOCK} \[(?<level>[A-Z]{3})\] `,
    ),
  },
  {
    name: 'clock',
    shape: '00:00:00',
    head: new RegExp(
      String.raw`^${CLOCK} (?:\w+=\S+ ){0,9}\[(?<level>debug|info|notice|warning|error|critical)\] `,
    ),
  },
  {
    name: 'clock',
    shape: '00:00:00',
    head: new RegExp(
      String.raw`^${CLOCK} (?:\[(?<thread>[^\]]{0,100})\] )?(?<level>TRACE|DEBUG|INFO|WARN|ERROR|FATAL) +(?:(?<tag>\S+) +- )?`,
    ),
  },
]
