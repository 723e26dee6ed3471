import { readFileSync, writeFileSync } from 'node:fs'
import { parse } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import { serveFlags } from '../../src/entry/process/arguments.ts'
import { defaultOf, flagOf } from '../../src/entry/settings/flags.ts'
import { location, locationIn } from '../../src/entry/settings/kinds.ts'
import { namesOf, type Row } from '../../src/entry/settings/row.ts'
import { effectiveToml, helpText } from '../../src/entry/settings/text.ts'
import {
  isLoopback,
  loadSettings,
  refuseOpenBind,
  SETTINGS,
  type Settings,
  SettingsError,
} from '../../src/entry/settings.ts'
import { UsageError } from '../../src/kit/usage.ts'

const ROWS: readonly Row[] = SETTINGS

/** A small file system: a string is a file, an Error is what reading it throws. */
function files(tree: Record<string, string | Error>) {
  return (path: string) => {
    const found = tree[path]
    if (found === undefined) throw Object.assign(new Error('gone'), { code: 'ENOENT' })
    if (typeof found !== 'string') throw found
    return found
  }
}

const denied = Object.assign(new Error('secret path'), { code: 'EACCES' })

async function load(
  argv: string[],
  env: Record<string, string> = {},
  tree: Record<string, string | Error> = {},
) {
  return loadSettings({ flags: serveFlags(argv), env, readFile: files(tree) })
}

async function fails(
  argv: string[],
  env: Record<string, string> = {},
  tree: Record<string, string | Error> = {},
) {
  const error = await load(argv, env, tree).then(
    () => null,
    (error: unknown) => error,
  )
  expect(error).toSatisfy((error) => error instanceof SettingsError || error instanceof UsageError)
  const { message, reason = 'usage' } = error as Error & { reason?: string }
  expect(message).not.toMatch(/[\n\r\t]/)
  return { message, reason }
}

/** One row per setting: its name, then three different texts with their values. */
const CASES: [keyof Settings, string, [string, unknown][]][] = [
  [
    'logs',
    'logs',
    [
      ['/a', '/a'],
      ['b', 'b'],
      ['./c d', './c d'],
    ],
  ],
  [
    'home',
    'home',
    [
      ['s3://logs/db-4', 's3://logs/db-4'],
      ['/srv/db-4', '/srv/db-4'],
      ['s3://logs', 's3://logs'],
    ],
  ],
  [
    'peersFrom',
    'peers-from',
    [
      ['http://db:9000', 'http://db:9000'],
      ['https://db.example/state', 'https://db.example/state'],
      ['http://[::1]:9000', 'http://[::1]:9000'],
    ],
  ],
  [
    'peerSelf',
    'peer-self',
    [
      ['db-1', 'db-1'],
      ['db_2', 'db_2'],
      ['3.x', '3.x'],
    ],
  ],
  [
    'peerTokenFile',
    'peer-token-file',
    [
      ['one', 'one'],
      ['two', 'two'],
      ['three', 'three'],
    ],
  ],
  [
    'fleet',
    'fleet',
    [
      ['s3://logs/db-4', 's3://logs/db-4'],
      ['/srv/db-4', '/srv/db-4'],
      ['s3://logs', 's3://logs'],
    ],
  ],
  [
    'config',
    'config',
    [
      ['/a.toml', '/a.toml'],
      ['b', 'b'],
      ['c', 'c'],
    ],
  ],
  [
    'host',
    'host',
    [
      ['::1', '::1'],
      ['localhost', 'localhost'],
      ['127.0.0.2', '127.0.0.2'],
    ],
  ],
  [
    'port',
    'port',
    [
      ['0', 0],
      ['1', 1],
      ['65535', 65535],
    ],
  ],
  [
    'hostIp',
    'host-ip',
    [
      ['192.0.2.7', '192.0.2.7'],
      ['2001:db8::7', '2001:db8::7'],
      ['10.0.0.1', '10.0.0.1'],
    ],
  ],
  [
    'hostName',
    'host-name',
    [
      ['a', 'a'],
      ['b', 'b'],
      ['c', 'c'],
    ],
  ],
  [
    'grpcPort',
    'grpc-port',
    [
      ['9001', 9001],
      ['9002', 9002],
      ['0', 0],
    ],
  ],
  [
    'httpPort',
    'http-port',
    [
      ['9001', 9001],
      ['9002', 9002],
      ['3', 3],
    ],
  ],
  [
    'nodeVersion',
    'node-version',
    [
      ['0.2.1', '0.2.1'],
      ['b', 'b'],
      ['c', 'c'],
    ],
  ],
  [
    'include',
    'include',
    [
      ['*.log', ['*.log']],
      ['a*', ['a*']],
      ['*.{log,txt}', ['*.{log,txt}']],
    ],
  ],
  [
    'nested',
    'nested',
    [
      ['true', true],
      ['off', false],
      ['YES', true],
    ],
  ],
  [
    'join',
    'join',
    [
      ['true', true],
      ['off', false],
      ['YES', true],
    ],
  ],
  [
    'maxSize',
    'max-size',
    [
      ['1', 1],
      ['256KiB', 262144],
      ['10mib', 10485760],
    ],
  ],
  [
    'timezone',
    'timezone',
    [
      ['Europe/Berlin', 'Europe/Berlin'],
      ['+02:00', '+02:00'],
      ['local', 'local'],
    ],
  ],
  [
    'scanBytes',
    'scan-bytes',
    [
      ['1', 1],
      ['256KiB', 262144],
      ['10mib', 10485760],
    ],
  ],
  [
    'scanSeconds',
    'scan-seconds',
    [
      ['1', 1],
      ['2', 2],
      ['30', 30],
    ],
  ],
  [
    'scans',
    'scans',
    [
      ['1', 1],
      ['2', 2],
      ['30', 30],
    ],
  ],
  [
    'archiveBytes',
    'archive-bytes',
    [
      ['1', 1],
      ['256KiB', 262144],
      ['10mib', 10485760],
    ],
  ],
  [
    'memory',
    'memory',
    [
      ['1', 1],
      ['256MiB', 268435456],
      ['2GiB', 2147483648],
    ],
  ],
  [
    'followers',
    'followers',
    [
      ['0', 0],
      ['2', 2],
      ['30', 30],
    ],
  ],
  [
    'tokens',
    'tokens',
    [
      ['a', 'a'],
      ['b', 'b'],
      ['c', 'c'],
    ],
  ],
  [
    'tlsCert',
    'tls-cert',
    [
      ['a', 'a'],
      ['b', 'b'],
      ['c', 'c'],
    ],
  ],
  [
    'tlsKey',
    'tls-key',
    [
      ['a', 'a'],
      ['b', 'b'],
      ['c', 'c'],
    ],
  ],
  [
    'allowHost',
    'allow-host',
    [
      ['a.example', ['a.example']],
      ['b:9000', ['b:9000']],
      ['[::1]:1', ['[::1]:1']],
    ],
  ],
  [
    'corsOrigin',
    'cors-origin',
    [
      ['https://a.example', ['https://a.example']],
      ['HTTP://B.example:80', ['http://b.example']],
      ['*', ['*']],
    ],
  ],
  [
    'page',
    'page',
    [
      ['no', false],
      ['true', true],
      ['off', false],
    ],
  ],
  [
    'loki',
    'loki',
    [
      ['true', true],
      ['off', false],
      ['YES', true],
    ],
  ],
  [
    'mcp',
    'mcp',
    [
      ['true', true],
      ['off', false],
      ['YES', true],
    ],
  ],
  [
    'insecure',
    'insecure',
    [
      ['true', true],
      ['off', false],
      ['YES', true],
    ],
  ],
  [
    'logLevel',
    'log-level',
    [
      ['debug', 'debug'],
      ['WARN', 'warn'],
      ['off', 'off'],
    ],
  ],
  [
    'metrics',
    'metrics',
    [
      ['0', false],
      ['off', false],
      ['YES', true],
    ],
  ],
  [
    'metricsOpen',
    'metrics-open',
    [
      ['1', true],
      ['off', false],
      ['YES', true],
    ],
  ],
  [
    'logFormat',
    'log-format',
    [
      ['json', 'json'],
      ['JSON', 'json'],
      ['text', 'text'],
    ],
  ],
  [
    'tlsClientCa',
    'tls-client-ca',
    [
      ['/etc/ca.pem', '/etc/ca.pem'],
      ['ca', 'ca'],
      ['./x', './x'],
    ],
  ],
  [
    'auditFile',
    'audit-file',
    [
      ['/var/log/audit.jsonl', '/var/log/audit.jsonl'],
      ['-', '-'],
      ['audit', 'audit'],
    ],
  ],
  [
    'stallSeconds',
    'stall-seconds',
    [
      ['1', 1],
      ['2', 2],
      ['30', 30],
    ],
  ],
]

describe('precedence', () => {
  it.each(CASES)('%s: flag, environment, file, default', async (key, name, [flag, env, file]) => {
    const pair =
      key === 'tlsCert' ? { NODESTATE_TLS_KEY: 'k' } : key === 'tlsKey' ? { NODESTATE_TLS_CERT: 'c' } : {}
    const variable = { [`NODESTATE_${name.toUpperCase().replaceAll('-', '_')}`]: env![0], ...pair }
    const tree = { 'nodestate.toml': `${name} = ${JSON.stringify(file![0])}` }
    const argv = [`--${name}=${flag![0]}`]
    const steps: [string[], Record<string, string>, Record<string, string>, unknown, string][] = [
      [argv, variable, tree, flag![1], 'flag'],
      [[], variable, tree, env![1], 'environment'],
      [[], pair as Record<string, string>, tree, file![1], 'file'],
    ]
    for (const [argv, env, tree, value, source] of steps) {
      const loaded = await load(argv, env, tree)
      expect(loaded.settings[key]).toEqual(value)
      expect(loaded.sources[key]).toBe(source)
      expect(loaded.warnings).toEqual([])
    }
    expect((await load([])).sources[key]).toBe('default')
  })

  it('takes peers as repeated flags, as a list, and as the one table', async () => {
    const [one, two, three] = ['one', 'two', 'three'].map((id) => [id, `http://${id}:9000`] as const)
    const text = ([id, url]: readonly [string, string]) => `${id}=${url}`
    const env = { NODESTATE_PEERS: [two, three].map((peer) => text(peer!)).join(', ') }
    const tree = { 'nodestate.toml': `[peers]\nthree = "${three![1]}"\n` }
    const steps: [string[], Record<string, string>, unknown, string][] = [
      [['--peer', text(one!), `--peer=${text(two!)}`], env, [one, two], 'flag'],
      [[], env, [two, three], 'environment'],
      [[], {}, [three], 'file'],
    ]
    for (const [argv, env, value, source] of steps) {
      const { settings, sources } = await load(argv, env, tree)
      expect([settings.peers, sources.peers]).toEqual([value, source])
    }
    const { settings } = await load([], {}, tree)
    expect(effectiveToml(settings)).toMatch(/\n\[peers\]\nthree = "http:\/\/three:9000"\n$/)
  })

  it.each([
    [['--peer', 'db-1'], {}, {}],
    [['--peer', '../x=http://a'], {}, {}],
    [['--peer', 'a=ftp://a'], {}, {}],
    [['--peer', 'a=http://user:pass@a'], {}, {}],
    [['--peer', 'a=http://a/?x=1'], {}, {}],
    [[], { NODESTATE_PEERS: 'nonsense' }, {}],
    [[], {}, { 'nodestate.toml': 'peers = ["a=http://a"]' }],
    [[], {}, { 'nodestate.toml': '[peers]\na = 7' }],
  ])('refuses the peers %j %j %j', async (argv, env, tree) => {
    const { reason } = await fails(argv, env, tree as Record<string, string>)
    expect(reason).toBe('usage')
  })

  it('has a case for every setting; those about files have their own tests below', () => {
    const covered = [...CASES.map(([, name]) => name), 'peers', 'token', 'token-file', 'settings']
    expect(covered.sort()).toEqual(ROWS.map((row) => row.name).sort())
  })

  it('has the defaults of the table', async () => {
    const { settings } = await load([])
    expect(settings).toMatchObject({
      logs: null,
      config: null,
      host: '127.0.0.1',
      port: 9000,
      hostIp: null,
      hostName: null,
      grpcPort: null,
      httpPort: null,
      nodeVersion: null,
      include: [],
      maxSize: null,
      token: null,
      tokenFile: null,
      tlsCert: null,
      tlsKey: null,
      allowHost: [],
      corsOrigin: [],
      insecure: false,
      logLevel: 'info',
    })
  })

  it('replaces lists as a whole, and accumulates repeated flags', async () => {
    const env = { NODESTATE_INCLUDE: 'x, *.{a,b} ,,y' }
    expect((await load([], env)).settings.include).toEqual(['x', '*.{a,b}', 'y'])
    expect((await load(['--include', 'a', '--include=b'], env)).settings.include).toEqual(['a', 'b'])
    const tree = { 'nodestate.toml': 'include = ["a", "b,c"]' }
    expect((await load([], {}, tree)).settings.include).toEqual(['a', 'b,c'])
  })

  it('takes TOML values of their own type', async () => {
    const tree = { 'nodestate.toml': 'port = 0\nmax-size = 4096\ninsecure = true\ngrpc-port = "7"' }
    expect((await load([], {}, tree)).settings).toMatchObject({
      port: 0,
      maxSize: 4096,
      insecure: true,
      grpcPort: 7,
    })
  })

  it('reads the settings file that --settings or NODESTATE_SETTINGS names', async () => {
    const tree = { 'nodestate.toml': 'port = 1', '/a': 'port = 2', '/b': 'port = 3' }
    expect((await load([], { NODESTATE_SETTINGS: '/b' }, tree)).settings.port).toBe(3)
    expect((await load(['--settings', '/a'], { NODESTATE_SETTINGS: '/b' }, tree)).settings.port).toBe(2)
  })

  it('needs no files where a runtime has none', async () => {
    const { settings } = await loadSettings({ env: { NODESTATE_TOKEN: 't', NODESTATE_PORT: '' } })
    expect(settings).toMatchObject({ token: 't', port: 9000 })
  })
})

it('reads a location in a bucket of any scheme that has a store, and no other', () => {
  expect(location.allowed).toBe('a directory, or s3://bucket/prefix')
  const { parse, allowed } = locationIn(['s3', 'acme'])
  expect(allowed).toBe('a directory, or s3://bucket/prefix or acme://bucket/prefix')
  for (const given of ['./logs', 's3://logs', 'acme://logs/db-4']) expect(parse(given)).toBe(given)
  for (const given of ['gs://logs', 'acme:///x', 'acme://logs/../x', 's3x://logs', 'as3://logs'])
    expect(parse(given)).toBeNull()
})

describe('flags', () => {
  it('knows booleans without value, with one, and negated; the last one wins', async () => {
    expect((await load(['--insecure'])).settings.insecure).toBe(true)
    expect((await load(['--insecure', '--no-insecure'])).settings.insecure).toBe(false)
    expect((await load(['--insecure=no'], { NODESTATE_INSECURE: '1' })).settings.insecure).toBe(false)
    expect((await load(['--port', '1', '--port', '2'])).settings.port).toBe(2)
    expect((await load(['--logs=--odd'])).settings.logs).toBe('--odd')
    expect((await load(['--logs', '-odd'])).settings.logs).toBe('-odd')
  })

  it.each([
    [['--prot', '1'], 'Unknown flag "--prot": did you mean --port?'],
    [['--hostip=1'], 'Unknown flag "--hostip": did you mean --host-ip?'],
    [['--log'], 'Unknown flag "--log": did you mean --logs?'],
    [['--max_size=1'], 'Unknown flag "--max_size": did you mean --max-size?'],
    [['--frobnicate'], 'Unknown flag "--frobnicate"; nodestate --help shows the flags.'],
    [['-p', '1'], 'Unknown flag "-p"; nodestate --help shows the flags.'],
    [
      ['--token', 'hunter2'],
      'Unknown flag --token: every user of a machine can read its command lines; use --token-file FILE or NODESTATE_TOKEN.',
    ],
    [['x'], 'Unexpected argument "x": values follow their flag; nodestate --help shows the flags.'],
    [['--port'], '--port needs a value: it must be an integer from 0 to 65535.'],
    [['--port', '--host', 'x'], '--port needs a value: it must be an integer from 0 to 65535.'],
    [['--logs='], `--logs needs a value: it must be ${location.allowed}.`],
    [['--logs=gs://x/y'], `Cannot use --logs "gs://x/y": it must be ${location.allowed}.`],
    [['--home', 's3:///x'], `Cannot use --home "s3:///x": it must be ${location.allowed}.`],
    [['--home', 's3://x/../y'], `Cannot use --home "s3://x/../y": it must be ${location.allowed}.`],
    [['--logs', 's3://x/a/.'], `Cannot use --logs "s3://x/a/.": it must be ${location.allowed}.`],
    [['--port', 'abc'], 'Cannot use --port "abc": it must be an integer from 0 to 65535.'],
    [['--port', '-1'], 'Cannot use --port "-1": it must be an integer from 0 to 65535.'],
    [['--port=65536'], 'Cannot use --port "65536": it must be an integer from 0 to 65535.'],
    [['--port=1e3'], 'Cannot use --port "1e3": it must be an integer from 0 to 65535.'],
    [['--port= 80'], 'Cannot use --port " 80": it must be an integer from 0 to 65535.'],
    [
      ['--max-size', '0'],
      'Cannot use --max-size "0": it must be a number of bytes of at least 1, such as 1048576, 256KiB, 10MiB or 2GiB.',
    ],
    [
      ['--max-size=1.5MiB'],
      'Cannot use --max-size "1.5MiB": it must be a number of bytes of at least 1, such as 1048576, 256KiB, 10MiB or 2GiB.',
    ],
    [
      ['--host-ip', 'db-4'],
      'Cannot use --host-ip "db-4": it must be an IPv4 or IPv6 address, such as 192.0.2.7 or 2001:db8::7.',
    ],
    [['--workers', '2'], 'Unknown flag "--workers"; nodestate --help shows the flags.'],
    [['--log-level', 'loud'], 'Cannot use --log-level "loud": it must be debug, info, warn, error or off.'],
    [
      ['--cors-origin', 'null'],
      'Cannot use --cors-origin "null": it must be an origin such as https://console.example:8443, without a path, or * for all.',
    ],
    [
      ['--cors-origin', 'https://a.example/x'],
      'Cannot use --cors-origin "https://a.example/x": it must be an origin such as https://console.example:8443, without a path, or * for all.',
    ],
    [
      ['--insecure=maybe'],
      'Cannot use --insecure "maybe": it must be 1, true, yes or on, or 0, false, no or off.',
    ],
    [['--no-insecure=1'], 'Cannot use "--no-insecure=1": --no-insecure takes no value.'],
    [
      ['--host-name', 'a\nb\u001b[31m'],
      'Cannot use --host-name "a\\nb\\u001b[31m": it must be a text that is not empty and has no control characters.',
    ],
    [['--tls-cert', 'c'], 'Cannot use --tls-cert alone: set --tls-key FILE too.'],
    [['--tls-key', 'c'], 'Cannot use --tls-key alone: set --tls-cert FILE too.'],
  ])('%j is refused', async (argv, message) => {
    expect(await fails(argv)).toEqual({ message, reason: 'usage' })
  })
})

describe('environment', () => {
  it('names the variable in an error', async () => {
    expect((await fails([], { NODESTATE_PORT: 'x' })).message).toBe(
      'Cannot use NODESTATE_PORT "x": it must be an integer from 0 to 65535.',
    )
  })

  it('warns about what it does not know, and says nothing about what Kubernetes puts there', async () => {
    const env = {
      NODESTATE_PROT: '1',
      NODESTATE_ZZZZZZZZ: '1',
      NODESTATE_PORT: 'tcp://10.0.0.1:9000',
      NODESTATE_SERVICE_HOST: '10.0.0.1',
      NODESTATE_PORT_9000_TCP_ADDR: '10.0.0.1',
      PATH: '/bin',
    }
    const { settings, warnings } = await load([], env)
    expect(settings.port).toBe(9000)
    expect(warnings).toEqual([
      'Ignored NODESTATE_PORT: it is a Kubernetes service link; set --port instead.',
      'Ignored NODESTATE_PROT: there is no such setting: did you mean NODESTATE_PORT?',
      'Ignored NODESTATE_ZZZZZZZZ: there is no such setting.',
    ])
  })
})

describe('settings file', () => {
  it.each([
    ['prot = 1', 'Unknown key "prot" in nodestate.toml: did you mean port?'],
    ['max_size = 1', 'Unknown key "max_size" in nodestate.toml: did you mean max-size?'],
    ['settings = "x"', 'Unknown key "settings" in nodestate.toml; nodestate --help shows the settings.'],
    ['[server]\nport = 1', 'Unknown key "server" in nodestate.toml; nodestate --help shows the settings.'],
    ['port = "x"', 'Cannot use port in nodestate.toml "x": it must be an integer from 0 to 65535.'],
    ['port = 1.5', 'Cannot use port in nodestate.toml "1.5": it must be an integer from 0 to 65535.'],
    ['logs = 7', `Cannot use logs in nodestate.toml "7": it must be ${location.allowed}.`],
    [
      'token = "s3cr3t word"',
      'Cannot use token in nodestate.toml: it must be printable ASCII without spaces, and not empty.',
    ],
    ['a = 1\ntoken = "s3cr3t', 'Cannot use "nodestate.toml": it is not valid TOML at line 2, column 9.'],
  ])('%j is refused', async (content, message) => {
    expect(await fails([], {}, { 'nodestate.toml': content })).toEqual({ message, reason: 'usage' })
  })

  it('may be missing only when nobody named it', async () => {
    expect(await fails(['--settings', '/x.toml'])).toEqual({
      reason: 'file',
      message: 'Cannot read the settings file "/x.toml": there is no such file; check the path.',
    })
    expect(await fails([], {}, { 'nodestate.toml': denied })).toEqual({
      reason: 'file',
      message:
        'Cannot read the settings file "nodestate.toml": permission denied; make it readable for this user.',
    })
  })
})

describe('token', () => {
  it.each([
    [['--token-file', '/t'], { NODESTATE_TOKEN: 'env' }, 'token-file = "/u"', 'from-t'],
    [[], { NODESTATE_TOKEN: 'env' }, 'token-file = "/u"', 'env'],
    [[], { NODESTATE_TOKEN_FILE: '/t' }, 'token = "toml"', 'from-t'],
    [[], {}, 'token-file = "/u"', 'from-u'],
    [[], {}, 'token = "toml"', 'toml'],
    [[], {}, '', null],
  ])('%j %j %j gives %s', async (argv, env, toml, token) => {
    const tree = { '/t': 'from-t\n', '/u': 'from-u\r\n', 'nodestate.toml': toml }
    expect((await load(argv, env as Record<string, string>, tree)).settings.token).toBe(token)
  })

  it.each([
    ['', 'empty'],
    ['\n', 'a newline'],
    ['a b', 'a space'],
    ['a\n\n', 'two newlines'],
    ['ä', 'beyond ASCII'],
  ])('refuses a file with %j (%s) without showing it', async (content) => {
    expect(await fails(['--token-file', '/t'], {}, { '/t': content })).toEqual({
      reason: 'file',
      message:
        'Cannot use the token file "/t" (--token-file): the token must be printable ASCII without spaces, and not empty.',
    })
  })

  it('refuses a missing or unreadable file', async () => {
    expect((await fails(['--token-file', '/t'])).message).toBe(
      'Cannot read the token file "/t" (--token-file): there is no such file; check the path.',
    )
    expect((await fails([], { NODESTATE_TOKEN_FILE: '/t' }, { '/t': denied })).message).toBe(
      'Cannot read the token file "/t" (NODESTATE_TOKEN_FILE): permission denied; make it readable for this user.',
    )
  })

  it.each(['INCLUDE', 'TOKEN', 'TOKEN_FILE', 'TOKENS', 'TLS_CERT', 'TLS_KEY', 'ALLOW_HOST'])(
    'an empty NODESTATE_%s, which would open something, is refused',
    async (name) => {
      expect((await fails([], { [`NODESTATE_${name}`]: '' })).message).toMatch(
        new RegExp(`^Cannot use NODESTATE_${name}( "")?: it must be `),
      )
    },
  )

  it.each(['INCLUDE', 'ALLOW_HOST'])('so is a NODESTATE_%s that lists nothing', async (name) => {
    expect((await fails([], { [`NODESTATE_${name}`]: ' , ' })).message).toContain(`NODESTATE_${name} " , "`)
  })

  it('refuses an empty variable, and two of one strength', async () => {
    expect((await fails([], { NODESTATE_TOKEN: '' })).message).toBe(
      'Cannot use NODESTATE_TOKEN: it must be printable ASCII without spaces, and not empty.',
    )
    expect((await fails([], { NODESTATE_TOKEN: 's3cr3t', NODESTATE_TOKEN_FILE: '/t' })).message).toBe(
      'Cannot use NODESTATE_TOKEN and NODESTATE_TOKEN_FILE together: set one of them.',
    )
  })
})

describe('bind', () => {
  it.each([
    ['127.0.0.1', true],
    ['127.255.0.3', true],
    ['localhost', true],
    ['LOCALHOST', true],
    ['::1', true],
    ['[::1]', true],
    ['0:0:0:0:0:0:0:1', true],
    ['::ffff:127.0.0.1', true],
    ['0.0.0.0', false],
    ['::', false],
    ['10.0.0.1', false],
    ['127.0.0.1.example', false],
    ['128.0.0.1', false],
    ['::ffff:10.0.0.1', false],
    ['localhost.example', false],
    ['', false],
  ])('%j is loopback: %s', (host, loopback) => {
    expect(isLoopback(host)).toBe(loopback)
  })

  it('beyond loopback needs a token or --insecure', async () => {
    const open = await load(['--host', '0.0.0.0'])
    expect(() => refuseOpenBind(open.settings)).toThrow(
      'Cannot listen on "0.0.0.0" without a token: anyone who can reach it could read the logs. ' +
        'Set --token-file FILE (or NODESTATE_TOKEN) or --tokens FILE, or --insecure to allow it.',
    )
    for (const [argv, env] of [
      [['--host', '0.0.0.0', '--insecure'], {}],
      [['--host', '0.0.0.0'], { NODESTATE_TOKEN: 't' }],
      [['--host', '::1'], {}],
    ] as const) {
      const { settings } = await load([...argv], env)
      expect(() => refuseOpenBind(settings)).not.toThrow()
    }
  })
})

describe('texts from the table', () => {
  it('--help names every flag, within 120 columns', () => {
    const help = helpText('  ls  List.')
    expect(help.indexOf('  ls  List.')).toBeLessThan(help.indexOf('--logs'))
    expect(helpText()).not.toContain('COMMAND')
    for (const row of ROWS) {
      const { flag } = namesOf(row)
      if (flag) expect(help).toContain(`  ${flag}`)
    }
    expect(help).toContain('NODESTATE_TOKEN')
    for (const line of help.split('\n')) expect(line.length).toBeLessThanOrEqual(120)
  })

  it('the effective settings are TOML that gives the same settings, without the token', async () => {
    const { settings } = await load(
      ['--include', 'a "b"', '--include=c\\d', '--max-size', '1KiB', '--host-name', 'ü', '--insecure'],
      { NODESTATE_TOKEN: 's3cr3t' },
    )
    const toml = effectiveToml(settings)
    expect(toml).not.toContain('s3cr3t')
    expect(parse(toml)).toEqual({
      host: '127.0.0.1',
      port: 9000,
      'host-name': 'ü',
      include: ['a "b"', 'c\\d'],
      nested: false,
      join: false,
      'max-size': 1024,
      token: '******',
      page: true,
      loki: false,
      mcp: false,
      insecure: true,
      metrics: true,
      'metrics-open': false,
      'log-level': 'info',
      'log-format': 'text',
    })
    const again = await load([], {}, { 'nodestate.toml': toml })
    expect(again.settings).toEqual({ ...settings, token: '******' })
  })

  it('docs/settings.md has this table (NODESTATE_WRITE_DOCS=1 writes it)', () => {
    const table = settingsTable()
    for (const row of ROWS) expect(table).toContain(`\`${namesOf(row).env}\``)
    const text = readFileSync('docs/settings.md', 'utf8')
    const written = text.replace(
      /(<!-- settings -->\n)[\s\S]*?(<!-- end -->)/,
      (_, start, end) => `${start}${table}${end}`,
    )
    expect(written).toContain(table)
    if (process.env.NODESTATE_WRITE_DOCS) writeFileSync('docs/settings.md', written)
    else expect(text).toBe(written)
  })
})

/** The table of docs/settings.md. */
function settingsTable(): string {
  const lines = ROWS.map((row) => {
    const flag = flagOf(row)
    const shownFlag = `${flag ? `\`${flag}\`` : ''}${row.list ? ' (repeatable)' : ''}`
    return `| ${shownFlag} | \`${namesOf(row).env}\` | ${defaultOf(row, '`')} | ${row.help} |`
  })
  return `| flag | environment | default | |\n|---|---|---|---|\n${lines.join('\n')}\n`
}
