// Serves on another runtime than Node, with the settings of `npm start`.
//   node scripts/serve.mjs bun|deno|worker [flags]
// A runtime that is not on the PATH comes from the parts of the tests, which are installed when first needed.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { has, serveFlags, VERSION_FLAGS } from '../dist/entry/process/arguments.js'
import { listenError } from '../dist/entry/process/listen-error.js'
import { reachable } from '../dist/entry/server/serve.js'
import { printable } from '../dist/entry/service/compose.js'
import { parseBucket } from '../dist/entry/service/location.js'
import { openBucket } from '../dist/entry/service/open-bucket.js'
import { namesOf } from '../dist/entry/settings/row.js'
import { helpText } from '../dist/entry/settings/text.js'
import { loadSettings, refuseOpenBind, SETTINGS, SettingsError } from '../dist/entry/settings.js'
import { UsageError } from '../dist/kit/usage.js'
import { VERSION } from '../dist/kit/version.js'
import { findPart } from '../test/parts/parts.mjs'
import { whenOrphaned } from './orphan.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const [runtime, ...flags] = process.argv.slice(2)

const UNUSED = new Set(['host', 'port', 'settings', 'tokenFile', 'insecure'])
const AWS =
  /^AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN|REGION|DEFAULT_REGION|ENDPOINT_URL|ENDPOINT_URL_S3)$/

const RUNTIMES = {
  bun: () => run(find('bun'), [join(root, 'dist/entry/cli/bun.js'), ...flags]),
  deno: async () =>
    run(find('deno'), ['run', ...(await denoPermissions()), join(root, 'dist/entry/cli/deno.js'), ...flags]),
  worker: serveWorker,
}
if (!Object.hasOwn(RUNTIMES, runtime)) {
  console.error('Usage: node scripts/serve.mjs bun|deno|worker [flags]')
  process.exit(2)
}
try {
  await RUNTIMES[runtime]()
} catch (error) {
  if (!(error instanceof SettingsError || error instanceof UsageError)) throw error
  complain(error.message)
  process.exitCode = error.reason === 'file' ? 1 : 2
}

function complain(line) {
  process.stderr.write(`nodestate: ${line}\n`)
}

/** The program's own name on the PATH, else the part. */
function find(name) {
  const places = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name))
  const own = places.find((path) => !path.includes('node_modules') && existsSync(path))
  return own ?? part(name)
}

function part(name) {
  if (findPart(name) === null) {
    const { status } = spawnSync(process.execPath, [join(root, 'test/parts/install.mjs')], {
      stdio: 'inherit',
    })
    if (status !== 0) process.exit(1)
  }
  return findPart(name)
}

/** What every setting may need; deploy/README.md shows how to narrow it for one. */
async function denoPermissions() {
  const writes = ['logs', await auditFile()].filter((path) => path !== null && path !== '-')
  return [
    '--no-prompt',
    '--allow-net',
    '--allow-read',
    `--allow-write=${writes.map((path) => path.replaceAll(',', ',,')).join(',')}`,
    '--allow-env',
    '--allow-sys=hostname,networkInterfaces',
    // Without it, a request counts as aborted when it was answered.
    '--unstable-no-legacy-abort',
  ]
}

/** Null also for settings that cannot be used, which the program refuses itself. */
async function auditFile() {
  try {
    const readSettings = (path) => readFile(path, 'utf8')
    const given = { flags: serveFlags(flags), env: process.env, readFile: readSettings }
    return (await loadSettings(given)).settings.auditFile
  } catch {
    return null
  }
}

/** Runs a program in the foreground: it gets our signals, we get its exit code. */
function run(command, args, options = {}) {
  const child = spawn(command, args, { stdio: 'inherit', ...options })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
  whenOrphaned(() => process.kill(process.pid, 'SIGTERM'))
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 143)
  })
  return child
}

/** `wrangler dev` with the wrangler.toml at the root; settings reach the worker as variables. */
async function serveWorker() {
  if (has(flags)) return void process.stdout.write(helpText())
  if (has(flags, VERSION_FLAGS)) return void process.stdout.write(`${VERSION}\n`)
  const loaded = await loadSettings({
    flags: serveFlags(flags),
    env: process.env,
    readFile: (path) => readFile(path, 'utf8'),
  })
  const { settings, sources } = loaded
  refuseOpenBind(settings)
  for (const name of ['config', 'tlsCert'])
    if (settings[name] !== null)
      throw new SettingsError(
        'usage',
        `A worker has no files: leave out --${name === 'config' ? 'config' : 'tls-cert'}; it takes its configuration from --home.`,
      )
  for (const warning of [...loaded.warnings, ...checkPlaces(settings)]) complain(warning)
  const node = Number(process.versions.node.split('.')[0]) >= 22 ? process.execPath : part('node')
  const folder = mkdtempSync(join(tmpdir(), 'nodestate-worker-'))
  const variables = join(folder, 'vars')
  // Not on the command line, which every user of the machine can read.
  writeFileSync(variables, variablesOf(settings, sources), { mode: 0o600 })
  const args = [
    find('wrangler'),
    'dev',
    `--config=${join(root, 'wrangler.toml')}`,
    `--ip=${settings.host.replace(/^\[(.*)\]$/, '$1')}`,
    `--port=${settings.port}`,
    '--inspector-port=0',
    '--local',
    '--show-interactive-dev-session=false',
    `--env-file=${variables}`,
  ]
  const env = {
    ...process.env,
    CI: '1',
    WRANGLER_SEND_METRICS: 'false',
    CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  }
  const child = run(node, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let stopping = false
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => (stopping = true))
  child.on('exit', () => {
    rmSync(folder, { recursive: true, force: true })
    // Wrangler calls it a failure that it was told to stop.
    if (stopping) process.exitCode = 0
  })
  let ready = false
  child.stdout.on('data', (data) => {
    const url = /Ready on (https?:\/\/\S+)/.exec(String(data))?.[1]
    if (!url || ready) return void (ready && process.stderr.write(data))
    ready = true
    const { protocol, port } = new URL(url)
    const shown = `${protocol}//${reachable(settings.host)}:${port}`
    process.stdout.write(`nodestate ${VERSION} listens on ${shown} with ${whereabouts(settings)}\n`)
  })
  child.stderr.on('data', (data) => {
    if (!ready && /Address already in use/i.test(String(data)))
      return complain(listenError({ code: 'EADDRINUSE' }, settings).message)
    process.stderr.write(data)
  })
}

/** Refuses a bucket that cannot be used, as the other runtimes do, and warns of what looks like a directory. */
function checkPlaces(settings) {
  const places = [settings.home, settings.logs]
  const warnings = []
  for (const place of places.filter((place) => place !== null)) {
    const bucket = parseBucket(place)
    if (bucket) openBucket(bucket, process.env)
    else if (/^\.{0,2}\//.test(place))
      warnings.push(
        `A worker has no directories: ${printable(place)} is a folder of the bound bucket; name s3://bucket/prefix for another.`,
      )
  }
  return warnings
}

/** Every setting that was given, and the AWS_ variables, as a file of variables. */
function variablesOf(settings, sources) {
  const lines = []
  const add = (name, value) => lines.push(`${name}=${JSON.stringify(String(value))}`)
  for (const row of SETTINGS) {
    const { env, key } = namesOf(row)
    const value = settings[key]
    if (value === null || (sources[key] === 'default' && key !== 'token') || UNUSED.has(key)) continue
    if (!(Array.isArray(value) && value.length === 0)) add(env, value)
  }
  // Nobody else reaches loopback: what a deployment must not do is fine here.
  if (settings.token === null) add('NODESTATE_INSECURE', '1')
  for (const [name, value] of Object.entries(process.env)) if (AWS.test(name)) add(name, value)
  return `${lines.join('\n')}\n`
}

function whereabouts(settings) {
  const shown = (place) =>
    parseBucket(place) ? printable(place) : `the bound bucket, folder ${printable(place)}`
  const home = (settings.home ?? '.').replace(/(?<=[^/])\/+$/, '')
  const inHome = (name) => shown(parseBucket(home) ? `${home}/${name}` : home)
  const logs = settings.logs === null ? inHome('logs') : shown(settings.logs)
  const config = inHome('config.toml')
  return `the logs in ${logs} and the configuration from ${config}`
}
