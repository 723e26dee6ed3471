// Installs the packed package into empty projects and runs the snippets of docs/embedding.md there: npm run test:consumers
//
// Each Node that is supported, with npm (strict about engines), pnpm and yarn 1, all from the registry. A warning about
// engines or peers fails, and so does a snippet that does not serve. Needs the network; takes about a minute.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'

/** The lowest Node that package.json allows, and the newest 22. */
const NODES = ['20.19.0', '22']
const root = resolve(import.meta.dirname, '..')
const place = mkdtempSync(join(tmpdir(), 'nodestate-consumers-'))

/** What each tool installs with: the program and its arguments. */
const TOOLS = {
  npm: () => [npmCli(), 'install', '--engine-strict', '--no-audit', '--no-fund', './nodestate.tgz', 'hono'],
  pnpm: () => [tool('pnpm/bin/pnpm.cjs'), 'add', '--engine-strict', './nodestate.tgz', 'hono'],
  // Yarn would take a package of this name and version from its cache.
  yarn: () => [
    tool('yarn/bin/yarn.js'),
    'add',
    '--no-progress',
    '--cache-folder',
    join(place, 'yarn-cache'),
    './nodestate.tgz',
    'hono',
  ],
}

let failed = 0
try {
  pack()
  run('npm', ['install', '--silent', '--prefix', join(place, 'tools'), 'pnpm@10', 'yarn@1.22'])
  for (const version of NODES) {
    const node = installNode(version)
    for (const name of Object.keys(TOOLS)) {
      const complaints = await consume(node, name, join(place, `${version}-${name}`))
      if (complaints.length > 0) failed++
      console.log(`${complaints.length === 0 ? 'clean ' : 'FAILED'} Node ${version} ${name}`)
      for (const line of complaints) console.log(`       ${line}`)
    }
  }
} finally {
  rmSync(place, { recursive: true, force: true })
}
process.exitCode = failed === 0 ? 0 : 1

/** Installs, imports, serves; gives what went wrong. */
async function consume(node, name, folder) {
  mkdirSync(join(folder, 'logs'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
  writeFileSync(join(folder, 'nodestate.tgz'), readFileSync(join(place, 'nodestate.tgz')))
  const [program, ...args] = TOOLS[name]()
  const installed = spawnSync(node, [program, ...args], {
    cwd: folder,
    encoding: 'utf8',
    // The scripts of packages, and pnpm itself, must run on this Node too.
    env: { ...process.env, PATH: `${dirname(node)}:${process.env.PATH}`, CI: 'true' },
  })
  const said = `${installed.stdout}\n${installed.stderr}`
  if (installed.status !== 0) return [`exit code ${installed.status}`, ...said.trim().split('\n').slice(-12)]
  const warnings = said.split('\n').filter((line) => /EBADENGINE|engine|peer|deprecated/i.test(line))
  if (warnings.length > 0) return warnings
  return [...importEverything(node, folder), ...failsClosed(node, folder), ...(await serves(node, folder))]
}

function importEverything(node, folder) {
  const { exports } = JSON.parse(readFileSync(join(folder, 'node_modules/nodestate/package.json'), 'utf8'))
  const names = Object.keys(exports).filter((name) => !name.endsWith('.json'))
  const lines = names.map((name) => `await import(${JSON.stringify(name.replace(/^\./, 'nodestate'))})`)
  writeFileSync(join(folder, 'imports.js'), lines.join('\n'))
  return complaints(spawnSync(node, ['imports.js'], { cwd: folder, encoding: 'utf8' }))
}

/** The snippets of docs/embedding.md serve what is in the log directory. */
async function serves(node, folder) {
  writeFileSync(join(folder, 'logs/broker.log'), 'hello\n')
  writeFileSync(join(folder, 'broker.toml'), 'a = 1\n')
  for (const [name, text] of snippets())
    writeFileSync(
      join(folder, name),
      text
        .replace('/var/log/lindb', join(folder, 'logs'))
        .replace('/etc/lindb/broker.toml', join(folder, 'broker.toml'))
        .replace('port: 9000', 'port: 0'),
    )
  const child = spawn(node, ['node.js'], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  child.stderr.on('data', (text) => {
    said += text
  })
  try {
    const url = await new Promise((resolve, reject) => {
      createInterface({ input: child.stdout }).on('line', (line) => line.startsWith('http') && resolve(line))
      child.on('close', (code) => reject(new Error(`node.js ended with ${code}`)))
    })
    const view = await (await fetch(`${url}/api/v1/log/view?file=broker.log`)).text()
    const { config } = await (await fetch(`${url}/api/v1/config`)).json()
    return view === 'hello\n' && config === 'a = 1\n' && said === '' ? [] : [view, config, said]
  } catch (error) {
    return [error.message, said]
  } finally {
    child.kill()
  }
}

/** Without its variables, lambda.js serves nothing. */
function failsClosed(node, folder) {
  const [, text] = snippets().find(([name]) => name === 'lambda.js')
  writeFileSync(join(folder, 'lambda.js'), text)
  const { TOKEN, ...env } = process.env
  const bare = spawnSync(node, ['lambda.js'], { cwd: folder, encoding: 'utf8', env })
  const set = spawnSync(node, ['lambda.js'], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...env, TOKEN: 'secret' },
  })
  return [...(bare.status === 0 ? ['lambda.js starts without TOKEN'] : []), ...complaints(set)]
}

function complaints({ status, stderr }) {
  return status === 0 && stderr === '' ? [] : [`exit code ${status}`, stderr]
}

function snippets() {
  const readme = readFileSync(join(root, 'docs/embedding.md'), 'utf8')
  return [...readme.matchAll(/```js\n\/\/ (\S+)\n([\s\S]*?)```/g)].map(([, name, text]) => [name, text])
}

function pack() {
  run('npm', ['pack', '--silent', '--pack-destination', place])
  const [name] = readdirSync(place).filter((each) => each.endsWith('.tgz'))
  writeFileSync(join(place, 'nodestate.tgz'), readFileSync(join(place, name)))
}

/** The binary of a Node from the registry. */
function installNode(version) {
  const name = `node-${process.platform}-${process.arch}`
  const prefix = join(place, `node-${version}`)
  run('npm', ['install', '--silent', '--prefix', prefix, `${name}@${version}`])
  return join(prefix, 'node_modules', name, 'bin/node')
}

function tool(path) {
  return join(place, 'tools/node_modules', path)
}

function npmCli() {
  const { stdout } = spawnSync('npm', ['root', '--global'], { encoding: 'utf8' })
  return join(stdout.trim(), 'npm/bin/npm-cli.js')
}

function run(command, args) {
  const { status, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`)
}
