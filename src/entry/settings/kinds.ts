import { parseZone } from '../../log/time.ts'

/** What a setting may hold: how its text is parsed, and what is allowed, in words. */
export interface Kind<T> {
  /** Completes the sentence "it must be …". */
  allowed: string
  /** The placeholder for the value in `--help`; switches have none. */
  value?: string
  /** The value, or null when the text is not one. */
  parse(text: string): T | null
  /** TOML types besides strings that are accepted as they are. */
  toml?: 'number' | 'boolean'
  /** Never shown: not in an error, not in the effective settings. */
  secret?: true
}

export const text: Kind<string> = {
  allowed: 'a text that is not empty and has no control characters',
  value: 'TEXT',
  parse: (value) => (value.trim() !== '' && !CONTROL.test(value) ? value : null),
}

/** A file or directory; relative paths start at the working directory. */
export const path: Kind<string> = {
  allowed: 'a path that is not empty',
  value: 'FILE',
  parse: (value) => (value !== '' && !value.includes('\0') ? value : null),
}

/** The schemes of buckets that can be read; `entry/service/open-bucket.ts` has the store of each. */
export const SCHEMES = ['s3'] as const

/** Where files are: a directory, or a prefix in a bucket of one of these schemes. */
export function locationIn(schemes: readonly string[]): Kind<string> {
  const bucket = new RegExp(`^(?:${schemes.join('|')})://[A-Za-z\\d][\\w.-]{1,254}(/[^\\0]*)?$`)
  return {
    allowed: `a directory, or ${schemes.map((scheme) => `${scheme}://bucket/prefix`).join(' or ')}`,
    value: 'DIR',
    parse(value) {
      if (path.parse(value) === null) return null
      if (!/^[a-z][a-z\d+.-]*:\/\//i.test(value)) return value
      // The URL parser resolves `.` and `..`, which could lead into another bucket.
      if (value.split('/').some((part) => part === '.' || part === '..')) return null
      return bucket.test(value) ? value : null
    },
  }
}

export const location = locationIn(SCHEMES)

/** A port; what 0 means depends on the setting. */
export const port = integer('PORT', 0, 65_535)
export const count = integer('N', 1)
export const whole = integer('COUNT', 0)

export const timezone: Kind<string> = {
  allowed: 'a time zone such as Europe/Berlin, +02:00, UTC, or local',
  value: 'ZONE',
  parse: (value) => (parseZone(value) === null ? null : value),
}

export const bytes: Kind<number> = {
  allowed: 'a number of bytes of at least 1, such as 1048576, 256KiB, 10MiB or 2GiB',
  value: 'BYTES',
  parse(value) {
    const match = /^(\d{1,16})(KiB|MiB|GiB|TiB)?$/i.exec(value)
    if (!match) return null
    const factor = 1024 ** ['', 'kib', 'mib', 'gib', 'tib'].indexOf((match[2] ?? '').toLowerCase())
    const size = Number(match[1]) * factor
    return size >= 1 && Number.isSafeInteger(size) ? size : null
  },
  toml: 'number',
}

export const boolean: Kind<boolean> = {
  allowed: '1, true, yes or on, or 0, false, no or off',
  parse(value) {
    const word = value.toLowerCase()
    return /^(1|true|yes|on)$/.test(word) ? true : /^(0|false|no|off)$/.test(word) ? false : null
  },
  toml: 'boolean',
}

export const address: Kind<string> = {
  allowed: 'an IPv4 or IPv6 address, such as 192.0.2.7 or 2001:db8::7',
  value: 'ADDRESS',
  parse: (value) => (isIPv4(value) || isIPv6(value) ? value : null),
}

/** A node and where it is. */
export const peer: Kind<readonly [id: string, url: string]> = {
  allowed: 'an id, = and an address, such as db-1=http://db-1:9000',
  value: 'ID=URL',
  parse(value) {
    const [, id = '', url = ''] = /^([^=]*)=(.*)$/s.exec(value) ?? []
    return nodeId.parse(id) !== null && isServiceUrl(url) ? [id, url] : null
  },
}

export const nodeId: Kind<string> = {
  allowed: 'an id of letters, digits, dots, dashes and underscores, such as db-1',
  value: 'ID',
  parse: (value) => (/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(value) ? value : null),
}

/** Where a service is; its path may be set, its user may not. */
export const serviceUrl: Kind<string> = {
  allowed: 'an address such as http://db:9000, without a user and a query',
  value: 'URL',
  parse: (value) => (isServiceUrl(value) ? value : null),
}

/** A web origin as browsers send it: `https://console.example:8443`; `*` names all. */
export const origin: Kind<string> = {
  allowed: 'an origin such as https://console.example:8443, without a path, or * for all',
  value: 'ORIGIN',
  parse(value) {
    if (value === '*') return value
    if (!/^https?:\/\/[^/?#@\s]+$/i.test(value) || !URL.canParse(value)) return null
    return new URL(value).origin
  },
}

/** A host name or address as in a Host header, with or without its port. */
export const hostHeader: Kind<string> = {
  allowed: 'a host name such as db-4.example, with or without a port',
  value: 'NAME',
  parse: (value) => (/^[^\s/@?#,\\]+$/.test(value) && !CONTROL.test(value) ? value : null),
}

export function oneOf<const W extends string>(...words: readonly W[]): Kind<W> {
  return {
    allowed: `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`,
    parse: (value) => words.find((word) => word === value.toLowerCase()) ?? null,
  }
}

/** A bearer token: what an HTTP header can carry, so no spaces and no control characters. */
export const token: Kind<string> = {
  allowed: 'printable ASCII without spaces, and not empty',
  parse: (value) => (/^[\x21-\x7e]+$/.test(value) ? value : null),
  secret: true,
}

/** Whether a bind to this host can be reached only from this machine. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  if (name === 'localhost') return true
  const v4 = name.startsWith('::ffff:') ? name.slice(7) : name
  if (isIPv4(v4)) return v4.startsWith('127.')
  return isIPv6(name) && new URL(`http://[${name}]`).hostname === '[::1]'
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\x00-\x1f\x7f-\x9f\u2028\u2029]/

function integer(value: string, least: number, most?: number): Kind<number> {
  return {
    allowed: most === undefined ? `an integer of at least ${least}` : `an integer from ${least} to ${most}`,
    value,
    parse(text) {
      const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
      return number >= least && number <= (most ?? Number.MAX_SAFE_INTEGER) ? number : null
    },
    toml: 'number',
  }
}

function isServiceUrl(value: string): boolean {
  if (!/^https?:\/\//i.test(value) || CONTROL.test(value) || !URL.canParse(value)) return false
  const { username, password, search, hash } = new URL(value)
  return username === '' && password === '' && search === '' && hash === ''
}

function isIPv4(value: string): boolean {
  return /^(25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}$/.test(value)
}

/** The URL parser knows IPv6 on every runtime; it takes nothing else in brackets. */
function isIPv6(value: string): boolean {
  return value.includes(':') && /^[\da-f:.]+$/i.test(value) && URL.canParse(`http://[${value}]/`)
}
