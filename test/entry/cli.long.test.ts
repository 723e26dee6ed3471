import { spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, type ClientRequest, get, type IncomingMessage } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { VERSION } from '../../src/kit/version.ts'
import { cleanUp, launch, serve, temporaryDirectory } from '../program.ts'
import { certificate, hasOpenssl } from '../support/certificate.ts'

afterEach(cleanUp)

/** Exit code and the one line on stderr. */
async function refused(args: string[], options: Parameters<typeof launch>[1] = {}) {
  const program = launch(args, options)
  const code = await program.exited
  expect(program.stdout()).toBe('')
  expect(program.stderr()).toMatch(/^nodestate: [^\n]+\n$/)
  expect(program.stderr()).not.toMatch(/\n\s+at |node:internal/)
  return { code, line: program.stderr().slice('nodestate: '.length, -1) }
}

const unexpected = (argument: string, help: string) =>
  `Unexpected argument "${argument}": values follow their flag; ${help} shows the flags.`

describe('help and version', () => {
  it.each([['--help'], ['-h'], ['serve', '--help'], ['serve', '-h', '--nonsense'], ['help', 'serve']])(
    '%s prints the flags and exits 0',
    async (...args) => {
      const program = launch(args)
      expect(await program.exited).toBe(0)
      expect(program.stdout()).toContain('Usage: nodestate [serve] [flags]')
      expect(program.stdout()).toMatch(
        /\n {2}serve .*\n {2}demo .*\n {2}tail .*[\s\S]*\n {2}incident .*[\s\S]*\n {2}--logs /,
      )
      expect(program.stdout()).toContain('--token-file FILE')
      expect(program.stderr()).toBe('')
    },
  )

  it.each([['--version'], ['-V']])('%s prints the version and exits 0', async (flag) => {
    const program = launch([flag])
    expect(await program.exited).toBe(0)
    expect(program.stdout()).toBe(`${VERSION}\n`)
  })
})

describe('what cannot start says why in one line', () => {
  it.each([
    [['--prot', '1'], 2, 'Unknown flag "--prot": did you mean --port?'],
    [['start'], 2, 'Unknown command "start": nodestate help shows the commands.'],
    [['tial', 'x.log'], 2, 'Unknown command "tial": did you mean tail?'],
    [['help', 'shpi'], 2, 'Unknown command "shpi": did you mean ship?'],
    [['help', 'tail', 'ls'], 2, unexpected('ls', 'nodestate help help')],
    [['serve', 'x'], 2, unexpected('x', 'nodestate --help')],
    [['--workers', '2'], 2, 'Unknown flag "--workers"; nodestate --help shows the flags.'],
    [['tail', '--lnies', '5', 'x.log'], 2, 'Unknown flag "--lnies": did you mean --lines?'],
    [['tail', '-fz', 'x.log'], 2, 'Unknown flag "-z"; nodestate help tail shows the flags.'],
    [['tail', '-n'], 2, '-n needs a value: N.'],
    [['tail', '--lines', '--follow', 'x.log'], 2, '--lines needs a value: N.'],
    [['tail', '--follow=yes', 'x'], 2, 'Cannot use "--follow=yes": --follow takes no value.'],
    [['tail', '--time', 'mars', 'x'], 2, 'Cannot use --time "mars": it must be log, local or utc.'],
    [['tail', '-n', 'x', '--url=http://a', 'x'], 2, 'Cannot use --lines "x": it must be a whole number.'],
    [['tail', 'x.log'], 2, 'Say which node: give its URL, such as http://db-4:9000, or set NODESTATE_URL.'],
    [['tail', 'http://a'], 2, 'Say which log: nodestate ls shows the names.'],
    [['grep', '--color=red', 'x'], 2, 'Cannot use --color "red": it must be always, auto or never.'],
    [['ls', 'http://a', 'b'], 2, 'Unexpected argument "b": name nodes by URL, such as http://db-4:9000.'],
    [['completion', 'tcsh'], 2, 'Say which shell: nodestate completion bash, zsh or fish.'],
    [['token', 'x'], 2, unexpected('x', 'nodestate help token')],
    [['token', '--hlep'], 2, 'Unknown flag "--hlep": did you mean --help?'],
    [['ship', '--flushs=1s', 'd'], 2, 'Unknown flag "--flushs": did you mean --flush?'],
    [
      ['ship', '--hold'],
      2,
      '--hold needs a value: it must be a duration of at least 100ms, such as 500ms, 10s, 5m or 1h.',
    ],
    [
      ['ship', '--http-port', 'x', 'd'],
      2,
      'Cannot use --http-port "x": it must be an integer from 0 to 65535.',
    ],
    [
      ['ship'],
      2,
      'Name the destination, such as s3://bucket/prefix/db-4; nodestate ship --help shows the flags.',
    ],
    [['--port', 'x'], 2, 'Cannot use --port "x": it must be an integer from 0 to 65535.'],
    [['--tls-cert', 'x'], 2, 'Cannot use --tls-cert alone: set --tls-key FILE too.'],
    [
      ['--host', '0.0.0.0', '--port', '0'],
      2,
      'Cannot listen on "0.0.0.0" without a token: anyone who can reach it could read the logs. ' +
        'Set --token-file FILE (or NODESTATE_TOKEN) or --tokens FILE, or --insecure to allow it.',
    ],
    [['--settings', 'x'], 1, 'Cannot read the settings file "x": there is no such file; check the path.'],
    [
      ['--token-file', 'x'],
      1,
      'Cannot read the token file "x" (--token-file): there is no such file; check the path.',
    ],
    [['--logs', '.', '--config', 'x'], 1, 'Cannot read --config "x": there is no such file; check the path.'],
    [['--logs', '.', '--config', '..'], 1, 'Cannot read --config "..": it is not a regular file.'],
    [
      ['--tls-cert', 'x', '--tls-key', 'y'],
      1,
      'Cannot read --tls-cert "x": there is no such file; check the path.',
    ],
    [
      ['--host', '192.0.2.1', '--insecure', '--port', '0'],
      1,
      'Cannot listen on "192.0.2.1:0": this machine does not have that address; check --host.',
    ],
  ])('%j', async (args, code, line) => {
    expect(await refused(args)).toEqual({ code, line })
  })

  it('a log directory that is a file', async () => {
    const cwd = temporaryDirectory()
    writeFileSync(join(cwd, 'logs'), '')
    expect(await refused(['--logs', 'logs'], { cwd })).toEqual({
      code: 1,
      line: 'Cannot use --logs "logs": it is not a directory.',
    })
  })

  it('a port in use', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    expect(await refused(['--port', String(port)])).toEqual({
      code: 1,
      line:
        `Cannot listen on "127.0.0.1:${port}": the port is in use; ` +
        'stop what uses it, or choose another with --port (0 takes a free one).',
    })
    server.close()
  })

  it('a token file that cannot be read', async () => {
    const cwd = temporaryDirectory()
    mkdirSync(join(cwd, 'token'))
    expect(await refused(['--token-file', 'token'], { cwd })).toEqual({
      code: 1,
      line: 'Cannot read the token file "token" (--token-file): it is a directory; name a file.',
    })
  })

  it('a broken nodestate.toml, without quoting it', async () => {
    const cwd = temporaryDirectory()
    writeFileSync(join(cwd, 'nodestate.toml'), 'token = "s3cr3t')
    expect(await refused([], { cwd })).toEqual({
      code: 2,
      line: 'Cannot use "nodestate.toml": it is not valid TOML at line 1, column 9.',
    })
  })
})

describe('serve', () => {
  it('names the place of the nodes of a fleet', async () => {
    const homes = temporaryDirectory()
    const program = await serve(['--port=0', '--fleet', homes, '--log-level=off'])
    expect(program.stdout()).toBe(
      `nodestate ${VERSION} listens on ${program.url} with the nodes in ${homes}\n`,
    )
  })

  it('prints one line with the real port, and what it serves; writes nothing into a named directory', async () => {
    const logs = temporaryDirectory()
    const cwd = temporaryDirectory()
    writeFileSync(join(logs, 'broker.log'), 'one\ntwo\n')
    writeFileSync(join(cwd, 'node.toml'), '[http]\nport = 9123\n')
    const program = await serve(['serve', '--port=0', '--logs', logs, '--config', 'node.toml'], { cwd })
    expect(program.stdout()).toBe(
      `nodestate ${VERSION} listens on ${program.url} with the logs in ${logs} and the configuration from node.toml\n`,
    )
    expect(program.url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d+$/)
    const list = await fetch(`${program.url}/api/v1/log/list`)
    expect(await list.json()).toEqual([{ name: 'broker.log', size: 8 }])
    const { config, node } = (await (await fetch(`${program.url}/api/v1/config`)).json()) as {
      config: string
      node: { httpPort: number }
    }
    expect(config).toBe('[http]\nport = 9123\n')
    expect(node.httpPort).toBe(9123)
    writeFileSync(join(cwd, 'node.toml'), 'changed = 1\n')
    expect(await (await fetch(`${program.url}/api/v1/config`)).json()).toMatchObject({
      config: 'changed = 1\n',
    })
    rmSync(join(cwd, 'node.toml'))
    expect((await fetch(`${program.url}/api/v1/config`)).status).toBe(503)
    expect(readdirSync(logs)).toEqual(['broker.log'])
    expect(readdirSync(cwd)).toEqual([])
    // The own log goes to stderr, and tells why.
    await expect
      .poll(() => program.stderr())
      .toMatch(/\tERROR\t[^\n]*Cannot read the configuration[^\n]*ENOENT/)
    expect(program.stderr()).toMatch(
      /\tINFO\t\S+:\d+\t\[Server\] \[Request\]: GET \/api\/v1\/log\/list 200\t/,
    )
  })

  it('has no warning about the log directory of a home that a shipper fills', async () => {
    const [logs, home, empty] = [temporaryDirectory(), temporaryDirectory(), temporaryDirectory()]
    writeFileSync(join(logs, 'a.log'), 'x\n')
    expect(await launch(['ship', '--once', '--logs', logs, home]).exited).toBe(0)
    const shipped = await serve(['--port=0', '--home', home, '--log-level=off'])
    expect((await fetch(`${shipped.url}/api/v1/log/list`)).status).toBe(200)
    const waiting = await serve(['--port=0', '--home', empty, '--log-level=off'])
    await expect.poll(() => waiting.stderr()).toContain('is not there yet')
    expect(shipped.stderr()).toBe('')
  })

  it('starts before its log directory is there: a warning, 503, and then the logs', async () => {
    const logs = join(temporaryDirectory(), 'later')
    const program = await serve(['--port=0', '--logs', logs, '--log-level=off'])
    await expect
      .poll(() => program.stderr())
      .toBe(
        `nodestate: The log directory "${logs}" is not there yet: requests for logs get 503 until it is.\n`,
      )
    expect((await fetch(`${program.url}/api/v1/log/list`)).status).toBe(503)
    mkdirSync(logs)
    writeFileSync(join(logs, 'a.log'), 'x')
    await expect
      .poll(async () => (await fetch(`${program.url}/api/v1/log/list`)).json())
      .toEqual([{ name: 'a.log', size: 1 }])
  })

  it('guards with the token of a file, and never writes it down', async () => {
    const cwd = temporaryDirectory()
    writeFileSync(join(cwd, 'token'), 's3cr3t-t0ken\n')
    const program = await serve(['--port=0', '--logs=.', '--token-file=token', '--host=0.0.0.0'], { cwd })
    expect(program.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    const denied = await fetch(`${program.url}/api/v1/config?token=s3cr3t-t0ken`)
    expect(denied.status).toBe(401)
    expect(denied.headers.get('WWW-Authenticate')).toMatch(/^Bearer/)
    const headers = { Authorization: 'Bearer s3cr3t-t0ken' }
    const granted = await fetch(`${program.url}/api/v1/config`, { headers })
    expect(granted.status).toBe(200)
    expect(await granted.text()).not.toContain('s3cr3t')
    expect((await fetch(`${program.url}/healthz`)).status).toBe(200)
    await expect.poll(program.stderr).toContain('GET /api/v1/config?token=*** 401')
    expect(program.stdout() + program.stderr()).not.toContain('s3cr3t')
  })

  it('listens on IPv6 and prints an address that can be opened', async () => {
    const program = await serve(['--port=0', '--host', '::1'])
    expect(program.url).toMatch(/^http:\/\/\[::1\]:\d+$/)
    expect((await fetch(`${program.url}/healthz`)).status).toBe(200)
  })

  it('warns about an unknown variable and starts', async () => {
    const program = await serve([], { env: { NODESTATE_PORT: '0', NODESTATE_PROT: '1' } })
    await expect
      .poll(() => program.stderr())
      .toBe('nodestate: Ignored NODESTATE_PROT: there is no such setting: did you mean NODESTATE_PORT?\n')
  })

  it('lives on when nobody reads its output', async () => {
    const program = await serve(['--port=0', '--logs', temporaryDirectory()])
    program.child.stdout!.destroy()
    program.child.stderr!.destroy()
    for (let i = 0; i < 3; i++) expect((await fetch(`${program.url}/api/v1/log/list`)).status).toBe(200)
    program.child.kill('SIGTERM')
    expect(await program.exited).toBe(0)
  })
})

describe("nodestate's own log", () => {
  it('is on standard error, a line for each request', async () => {
    const logs = temporaryDirectory()
    const program = await serve(['--port=0', '--logs', logs])
    expect(program.stdout()).toContain(`with the logs in ${logs} and the configuration from its own settings`)
    const config = (await (await fetch(`${program.url}/api/v1/config`)).json()) as {
      config: string
      node: Record<string, unknown>
    }
    const port = Number(new URL(program.url).port)
    expect(config.config).toContain(`port = ${port}`)
    expect(config.config).toContain(`logs = "${logs}"`)
    expect(config.node).toMatchObject({ httpPort: port, grpcPort: 0, version: VERSION })
    expect(await (await fetch(`${program.url}/api/v1/log/list`)).json()).toEqual([])
    await expect.poll(() => program.stderr().trimEnd().split('\n')).toHaveLength(3)
    const lines = program.stderr().trimEnd().split('\n')
    for (const line of lines) {
      expect(line).toMatch(
        /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\t[A-Z]+\t\S+:\d+\t\[\w+\] \[\w+\]: [^\t]+\t\{.*\}$/,
      )
    }
    expect(lines.map((line) => line.split('\t')[3])).toEqual([
      `[Server] [Start]: nodestate ${VERSION} listens`,
      '[Server] [Request]: GET /api/v1/config 200',
      '[Server] [Request]: GET /api/v1/log/list 200',
    ])
    expect(readdirSync(logs)).toEqual([])
  })

  it('cannot be made to write a line that it did not mean', async () => {
    const program = await serve(['--port=0', '--logs', temporaryDirectory()])
    const socket = connect(Number(new URL(program.url).port), '127.0.0.1')
    // Sent raw, because a client library would encode it.
    socket.end(
      'GET /a\u001b[31m%0a%09\tX?b=\u0085\u00e9 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
      'latin1',
    )
    await once(socket.resume(), 'close')
    await fetch(`${program.url}/%0A2026-01-01%2000:00:00.000%09ERROR?x=%1b[31m{site}`)
    await expect.poll(program.stderr).toContain('{site} 404')
    const text = program.stderr()
    for (const line of text.trimEnd().split('\n'))
      expect(line).toMatch(/^\d{4}-.*\t(INFO|ERROR)\t[\w./-]+:\d+\t\[Server\]/)
    for (const letter of '\u001b\u0085\r') expect(text).not.toContain(letter)
  })

  it('at --log-level warn has no requests', async () => {
    const program = await serve(['--port=0', '--logs', temporaryDirectory(), '--log-level', 'warn'])
    await fetch(`${program.url}/api/v1/config`)
    program.child.kill()
    await program.exited
    expect(program.stderr()).toBe('')
  })
})

/** A server with a log so large that an answer outlasts every socket buffer. */
async function withLargeLog(...flags: string[]) {
  const logs = temporaryDirectory()
  writeFileSync(join(logs, 'big.log'), Buffer.alloc(LARGE, 'all work and no play\n'))
  return serve(['--port=0', '--logs', logs, '--log-level=error', ...flags])
}

/** More than what sockets hold, and little enough to be sent in the three seconds that a stop leaves an answer. */
const LARGE = 24 * 1024 * 1024
const LARGE_PATH = `/api/v1/log/view?file=big.log&size=${LARGE}`

/** An answer that has begun and is not read on. */
async function begun(request: ClientRequest): Promise<IncomingMessage> {
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  await new Promise<void>((resolve) =>
    response.once('data', () => {
      response.pause()
      resolve()
    }),
  )
  return response
}

/** Waits until a service that was told to stop takes no more requests. */
async function refusing(url: string): Promise<void> {
  const state = () =>
    fetch(`${url}/healthz`).then(
      () => 'up',
      () => 'down',
    )
  await expect.poll(state).toBe('down')
}

describe('signals', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    '%s finishes a running answer, refuses new ones, exits 0',
    async (signal) => {
      const program = await withLargeLog()
      const agent = new Agent({ keepAlive: true })
      const idle = get(`${program.url}/healthz`, { agent })
      const [answer] = await once(idle, 'response')
      await once(answer.resume(), 'end')
      const closed = once(idle.socket!, 'close')
      const response = await begun(get(program.url + LARGE_PATH))
      program.child.kill(signal)
      await closed
      await refusing(program.url)
      response.resume()
      await once(response, 'end')
      expect(response.complete).toBe(true)
      expect(await program.exited).toBe(0)
      agent.destroy()
    },
  )

  it('cuts an answer that nobody reads, and exits 0', async () => {
    const program = await withLargeLog()
    const response = await begun(get(program.url + LARGE_PATH))
    const cut = once(response, 'error')
    program.child.kill('SIGTERM')
    expect(await program.exited).toBe(0)
    response.resume()
    await cut
    expect(response.complete).toBe(false)
  })

  it('exits at once when asked twice', async () => {
    const program = await withLargeLog()
    const socket = connect(Number(new URL(program.url).port), '127.0.0.1')
    socket.write(`GET ${LARGE_PATH} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    await once(socket, 'readable')
    socket.on('error', () => {})
    program.child.kill('SIGINT')
    await refusing(program.url)
    // Signals less than 250 ms apart count as one, and after three seconds the answer is cut.
    await sleep(400)
    program.child.kill('SIGINT')
    expect(await program.exited).toBe(130)
    socket.destroy()
  })

  it('takes two signals at once for one, as npm passes on what the terminal sent', async () => {
    const program = await withLargeLog()
    const response = await begun(get(program.url + LARGE_PATH))
    // The system may deliver two of a kind as one, but not two kinds.
    for (const signal of ['SIGINT', 'SIGINT', 'SIGTERM'] as const) program.child.kill(signal)
    await refusing(program.url)
    response.resume()
    await once(response, 'end')
    expect(response.complete).toBe(true)
    expect(await program.exited).toBe(0)
  })

  it('does not wait for connections on which nothing was asked', async () => {
    const program = await withLargeLog()
    const socket = connect(Number(new URL(program.url).port), '127.0.0.1')
    await once(socket, 'connect')
    socket.on('error', () => {}).resume()
    const response = await begun(get(program.url + LARGE_PATH))
    program.child.kill('SIGTERM')
    await once(socket, 'close')
    // If it had waited for the connection, it would have cut the answer, too.
    response.resume()
    await once(response, 'end')
    expect(response.complete).toBe(true)
    expect(await program.exited).toBe(0)
  })

  it('npm start hands its signals on to the service', async () => {
    const npm = spawn('npm', ['start', '--ignore-scripts', '--silent'], {
      env: { ...process.env, NODESTATE_PORT: '0', NODESTATE_LOGS: temporaryDirectory() },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let out = ''
    npm.stdout.on('data', (data) => {
      out += data
    })
    await expect.poll(() => out, { timeout: 60_000 }).toMatch(/listens on http\S+/)
    const url = /http:\/\/\S+/.exec(out)![0]
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    const exited = once(npm, 'close')
    npm.kill('SIGTERM')
    await exited
    await refusing(url)
  })
})

/** What a new service answers to some bytes. */
async function send(text: string): Promise<string> {
  const program = await serve(['--port=0', '--log-level=off'])
  const socket: Socket = connect(Number(new URL(program.url).port), '127.0.0.1')
  let answer = ''
  socket.setEncoding('latin1').on('data', (data) => {
    answer += data
  })
  socket.write(text, 'latin1')
  await once(socket, 'close')
  return answer
}

describe('unusual HTTP', () => {
  it.each([
    'GET /healthz HTTP/1.0\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nExpect: patience\r\n\r\n',
    'GET http://elsewhere.example/healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
  ])('%j is answered', async (text) => {
    expect(await send(text)).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nok\n$/)
  })

  it('CONNECT is refused like every other method', async () => {
    const [head, body] = (await send('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n')).split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 405 [\s\S]*\r\nAllow: GET, HEAD\r\n/)
    expect(JSON.parse(body!)).toMatchObject({ type: '/problems/method-not-allowed', status: 405 })
  })

  it('a URL that is not ASCII is told to be encoded', async () => {
    const answer = await send('GET /api/v1/log/view?file=\u00fc.log HTTP/1.1\r\nHost: localhost\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toContain('Percent-encode')
  })
})

describe('what is not HTTP', () => {
  it.each(
    [
      ['nonsense\r\n\r\n', 400],
      ['GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n', 400],
      ['GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
      ['GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n', 400],
      ['OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 400],
      ['GET /a\\..\\b HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 400],
      [`GET /${'x'.repeat(20000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`, 431],
    ].map(([text, status]) => ({ text: String(text), status, start: String(text).slice(0, 60) })),
  )('$start gets a problem with status $status', async ({ text, status }) => {
    const answer = await send(text)
    const [head, body] = answer.split('\r\n\r\n')
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(head!.toLowerCase()).toContain('content-type: application/problem+json')
    expect(head!.toLowerCase()).toContain('x-content-type-options: nosniff')
    expect(JSON.parse(body!)).toMatchObject({ type: '/problems/bad-request', status })
    expect(answer).not.toMatch(/node:|\.js|HPE_/)
  })
})

describe.skipIf(!hasOpenssl())('TLS (with the openssl program, for certificates)', () => {
  it('serves HTTPS with a certificate and its key', async () => {
    const { cert, key } = certificate(temporaryDirectory(), 'a')
    const program = await serve(['--port=0', '--tls-cert', cert, '--tls-key', key])
    expect(program.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    const asked = tlsRequest(`${program.url}/api/v1/log/list`, { ca: readFileSync(cert), agent: false }).end()
    const [response] = await once(asked, 'response')
    expect(response.statusCode).toBe(200)
    response.resume()
    program.child.kill('SIGTERM')
    expect(await program.exited).toBe(0)
  })

  it('ends a connection whose handshake does not come within ten seconds', async () => {
    const { cert, key } = certificate(temporaryDirectory(), 'a')
    const program = await serve(['--port=0', '--tls-cert', cert, '--tls-key', key])
    const socket = connect(Number(new URL(program.url).port), '127.0.0.1')
    socket.on('error', () => {}).resume()
    await once(socket, 'close')
    expect(socket.bytesRead).toBe(0)
  })

  it('does not wait for a handshake that never comes', async () => {
    const { cert, key } = certificate(temporaryDirectory(), 'a')
    const program = await withLargeLog('--tls-cert', cert, '--tls-key', key)
    const socket = connect(Number(new URL(program.url).port), '127.0.0.1')
    await once(socket, 'connect')
    socket.on('error', () => {}).resume()
    const options = { ca: readFileSync(cert), agent: false }
    const response = await begun(tlsRequest(program.url + LARGE_PATH, options).end())
    program.child.kill('SIGTERM')
    await once(socket, 'close')
    // If it had waited for the handshake, it would have cut the answer, too.
    response.resume()
    await once(response, 'end')
    expect(response.complete).toBe(true)
    expect(await program.exited).toBe(0)
  })

  it('cuts a handshake that never ends, and exits 0', async () => {
    const { cert, key } = certificate(temporaryDirectory(), 'a')
    const program = await serve(['--port=0', '--tls-cert', cert, '--tls-key', key])
    const socket = connect(Number(new URL(program.url).port), '127.0.0.1')
    await once(socket, 'connect')
    socket.on('error', () => {}).resume()
    socket.write('\x16\x03\x01\x02\x00\x01', 'latin1')
    await sleep(100)
    program.child.kill('SIGTERM')
    expect(await program.exited).toBe(0)
  })

  it('says which of the files is bad', async () => {
    const cwd = temporaryDirectory()
    const one = certificate(cwd, 'one')
    certificate(cwd, 'two')
    writeFileSync(join(cwd, 'bad'), 'nonsense')
    const attempt = (cert: string, key: string) => refused(['--tls-cert', cert, '--tls-key', key], { cwd })
    expect(await attempt('bad', one.key)).toEqual({
      code: 1,
      line: 'Cannot use --tls-cert "bad": it is not a certificate in PEM form.',
    })
    expect(await attempt(one.cert, 'bad')).toEqual({
      code: 1,
      line: 'Cannot use --tls-key "bad": it is not a private key in PEM form without a passphrase.',
    })
    expect(await attempt('one.crt', 'two.key')).toEqual({
      code: 1,
      line: 'Cannot use --tls-key "two.key": it is not the key of the certificate "one.crt".',
    })
    // OpenSSL itself takes both of these, and then no client gets in.
    writeFileSync(join(cwd, 'empty'), '')
    expect(await attempt('empty', 'empty')).toMatchObject({ code: 1 })
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    writeFileSync(join(cwd, 'rsa.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
    expect(await attempt('one.crt', 'rsa.key')).toEqual({
      code: 1,
      line: 'Cannot use --tls-key "rsa.key": it is not the key of the certificate "one.crt".',
    })
  })
})
