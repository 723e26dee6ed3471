import { versionKey } from '../../../../src/store/segment/configs.ts'

/** An hour of three logs on two nodes, with an incident in its second half and secrets in many places. */
export const START = Date.UTC(2026, 10, 16, 2)
export const NOW = START + 3_600_000
const MINUTE = 60_000
const HALF = 30 * MINUTE

export const SECRETS = [
  'hunter2-Xq9',
  'ghp_0123456789abcdefABCDEF0123456789abcd',
  'Zx81-basic-pw',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P',
  'sk_live_4eC39HqLyjWDarjtT1',
  'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC',
  'contextPassw0rd',
  'told-me-99',
]
const [PASSWORD, GITHUB, BASIC, JWT, STRIPE, PEM, CONTEXT, TOLD] = SECRETS as [string, ...string[]]

const line = (ms: number, level: string, text: string) =>
  `${new Date(ms).toISOString().replace('T', ' ').slice(0, 23)}\t${level}\t${text}\n`

function log(ticks: number, extra: (ms: number, i: number) => string): string {
  let out = ''
  for (let i = 0; i < ticks; i++) {
    const ms = START - 3_600_000 + Math.floor((i * 7_200_000) / ticks)
    out +=
      line(ms, 'INFO', `a.go:1\t[Broker]: query ${i} took ${i % 90} ms\t{"rows":${i % 7}}`) + extra(ms, i)
  }
  return out
}

const failing = (ms: number, i: number) => {
  if (ms < START + HALF) return ''
  const kinds = [
    `cannot reach postgres://app:${PASSWORD}@db-7/main`,
    `push to github failed with ${GITHUB}`,
    `<script>alert(1)</script> "quoted" & 'single' \u202e\x1b[31mred`,
    `request had Authorization: Bearer ${JWT}`,
    `charge failed, key=${STRIPE}`,
    `loaded\n-----BEGIN PRIVATE KEY-----\n${PEM}\nAAAA\n-----END PRIVATE KEY-----`,
    `login of admin\t{"user":"admin","password":"${CONTEXT}","nested":{"api_key":"${CONTEXT}"}}`,
    `the password was ${TOLD}`,
    `long ${'x'.repeat(9000)} curl -u admin:${BASIC} http://x`,
  ]
  return i % 4 === 0 ? line(ms + 1, 'ERROR', `b.go:2\t[Broker]: ${kinds[(i / 4) % kinds.length]}`) : ''
}

const node = (name: string) =>
  JSON.stringify({
    hostIp: '192.0.2.7',
    hostName: name,
    grpcPort: 1,
    httpPort: 2,
    version: '0.4.1',
    onlineTime: START - 9e6,
  })
const config = (workers: number) =>
  `[storage]\nflush-workers = ${workers}\n\n[db]\npassword = "${PASSWORD}"\n`

/** The files of a fleet; `db-7/` without its prefix is one node. */
export function planted(ticks = 7200): Record<string, string> {
  return {
    'db-4/node.json': node('db-4.example'),
    'db-4/config.toml': config(8),
    'db-4/logs/broker.log': log(ticks, failing),
    'db-7/node.json': node('db-7.example'),
    'db-7/config.toml': config(1),
    'db-7/logs/broker.log': log(ticks, failing),
    'db-7/logs/storage.log': log(ticks, () => ''),
    [`db-7/${versionKey({ time: START - 9e6, crc: 1 })}`]: config(8),
    [`db-7/${versionKey({ time: START + HALF, crc: 2 })}`]: config(1),
  }
}

export const RANGE = `since=${new Date(START + HALF).toISOString()}&until=${new Date(NOW).toISOString()}`
