import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { serveFlags } from '../../src/entry/process/arguments.ts'
import { loadSettings } from '../../src/entry/settings.ts'
import { lacking } from '../support/parts.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, 'deploy', path), 'utf8')

/** Settings that a command line of a deployment names; throws when one is not ours. */
async function settingsOf(argv: string[], env: Record<string, string> = {}) {
  const readFile = (path: string) => {
    if (path.endsWith('token')) return 'secret'
    throw Object.assign(new Error(path), { code: 'ENOENT' })
  }
  const { settings, warnings } = await loadSettings({
    flags: serveFlags(argv[0] === 'serve' ? argv.slice(1) : argv),
    env,
    readFile,
  })
  expect(warnings).toEqual([])
  return settings
}

describe('deploy/README.md', () => {
  it('names only files that exist', () => {
    const links = [...read('README.md').matchAll(/\]\(([^)#]+)\)/g)].map((match) => match[1]!)
    expect(links.length).toBeGreaterThan(5)
    // What works only in a checkout is not packed, and linked in the repository.
    const REPOSITORY = 'https://github.com/nodestate/nodestate/blob/main/'
    for (const link of links) {
      const path = link.startsWith(REPOSITORY) ? link.slice(REPOSITORY.length) : join('deploy', link)
      expect(existsSync(join(root, path)), link).toBe(true)
    }
  })

  it('has tables whose rows have as many cells as their head', () => {
    const rows = read('README.md')
      .split('\n')
      .map((line) => (line.startsWith('|') ? line.split('|').length : 0))
    for (const [i, cells] of rows.entries())
      if (cells > 0 && rows[i - 1]! > 0) expect(cells, `line ${i + 1}`).toBe(rows[i - 1])
  })

  it('names only scripts that exist', () => {
    const scripts = Object.keys(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts)
    const named = [...read('README.md').matchAll(/npm run ([\w:]+)/g)].map((match) => match[1]!)
    expect(named.length).toBeGreaterThan(4)
    for (const name of named) expect(scripts).toContain(name)
  })
})

describe('systemd/nodestate.service', () => {
  const unit = read('systemd/nodestate.service')
  const command = /^ExecStart=(\S+) (.*)$/m.exec(unit)!

  it('starts the program with settings that it takes', async () => {
    const settings = await settingsOf(command[2]!.replace('%d', '/run/credentials').split(' '))
    expect(settings).toMatchObject({ logs: '/var/log/lindb', host: '0.0.0.0', port: 9000, token: 'secret' })
  })

  it('shows the log directory and the configuration, read-only, and grants nothing', () => {
    expect(unit).toMatch(/^TemporaryFileSystem=\/:ro$/m)
    expect(unit).toMatch(/^BindReadOnlyPaths=-\/var\/log\/lindb -\/etc\/lindb\/broker\.toml$/m)
    expect(unit).not.toMatch(/^(BindPaths|ReadWritePaths|StateDirectory)=/m)
    expect(unit).toMatch(/^CapabilityBoundingSet=$/m)
    expect(unit).toMatch(/^NoNewPrivileges=yes$/m)
    expect(unit).toMatch(/^DynamicUser=yes$/m)
  })

  const analyze = spawnSync('systemd-analyze', ['--version']).status === 0
  const reason = analyze ? '' : ` (${lacking('systemd-analyze is not installed: it comes with systemd')})`
  it.skipIf(!analyze)(`passes systemd-analyze verify and security${reason}`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'nodestate-unit-'))
    const file = join(folder, 'nodestate.service')
    // The program is not installed here; verify wants one that is.
    writeFileSync(file, unit.replace(command[1]!, process.execPath))
    try {
      const verified = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
      expect(verified.stderr).toBe('')
      expect(verified.status).toBe(0)
      // In tenths: 2.0 is better than anything that a distribution ships by itself.
      const args = ['security', '--offline=true', '--threshold=20', '--no-pager', file]
      expect(spawnSync('systemd-analyze', args).status).toBe(0)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe('container/Containerfile', () => {
  const lines = read('container/Containerfile')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))

  it('has only instructions that there are', () => {
    const known = /^(ARG|FROM|WORKDIR|COPY|RUN|ENV|USER|EXPOSE|HEALTHCHECK|ENTRYPOINT) \S/
    for (const line of lines) expect(line).toMatch(known)
    expect(lines.filter((line) => line.startsWith('FROM ')).length).toBe(2)
  })

  it('copies files that exist, and all that the build needs', () => {
    const copied = lines
      .filter((line) => line.startsWith('COPY ') && !line.includes('--from'))
      .flatMap((line) => line.split(' ').slice(1, -1))
    for (const path of copied) expect(existsSync(join(root, path)), path).toBe(true)
    const needed = [
      'package-lock.json',
      'tsconfig.json',
      'tsconfig.js.json',
      'scripts/openapi.mjs',
      'scripts/types.mjs',
      'scripts/binary.mjs',
      'src',
    ]
    expect(copied).toEqual(expect.arrayContaining(needed))
  })

  it('runs as nobody, with settings that the program takes', async () => {
    expect(lines).toContain('USER 65534:65534')
    const env = Object.fromEntries(
      lines
        .filter((line) => line.startsWith('ENV '))
        .flatMap((line) => line.slice(4).split(' '))
        .map((pair) => pair.split('=') as [string, string])
        .filter(([name]) => name.startsWith('NODESTATE_')),
    )
    const run = read('container/Containerfile')
      .match(/^# +ghcr.io\/nodestate\/nodestate:\S+ (--.*)$/m)![1]!
      .split(' ')
    expect(await settingsOf(['serve', ...run], env)).toMatchObject({
      logs: '/logs',
      host: '0.0.0.0',
      port: 9000,
    })
    // Logs that the image named would be stronger than those of a home in a bucket.
    const { sources } = await loadSettings({
      env: { ...env, NODESTATE_HOME: 's3://logs/db-4' },
    })
    expect([sources.home, sources.logs]).toEqual(['environment', 'default'])
    const entry = JSON.parse(lines.find((line) => line.startsWith('ENTRYPOINT '))!.slice(11)) as string[]
    expect(entry).toEqual(['/nodestate', 'serve'])
  })
})

/** What the manifests name, and the release workflow pushes. */
const RELEASED = 'ghcr.io/nodestate/nodestate'

describe('the images', () => {
  it('have a tag; that of nodestate is the version of the package', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const files = ['deploy', 'examples'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
        join(folder, file),
      ),
    )
    const images = files
      .filter((file) => file.endsWith('.yaml'))
      .flatMap((file) => [...readFileSync(join(root, file), 'utf8').matchAll(/^ *(?:- )?image: (\S+)$/gm)])
      .map(([, image]) => image!)
    expect(images.length).toBeGreaterThan(8)
    for (const image of images) {
      const [name, tag] = image.split(':')
      expect(tag, image).toMatch(/^v?\d/)
      if (name!.endsWith('nodestate')) expect(image).toBe(`${RELEASED}:${version}`)
    }
    expect(images.filter((image) => image.startsWith(RELEASED)).length).toBeGreaterThan(5)
    expect(read('container/Containerfile')).toContain(`podman build -t ${RELEASED}:${version} `)
    expect(read('README.md')).toContain(`podman build -t ${RELEASED}:${version} `)
  })

  it('of nodestate is the one that the release workflow builds, signs and attests', () => {
    const text = readFileSync(join(root, '.github/workflows/release.yml'), 'utf8')
    const { env, steps } = parseAllDocuments(text)[0]!.toJS().jobs.image
    expect(env.IMAGE).toBe(RELEASED)
    const step = (name: string) =>
      steps.find((each: { uses?: string; run?: string }) => (each.uses ?? each.run ?? '').startsWith(name))
    expect(existsSync(join(root, step('docker/build-push-action@').with.file))).toBe(true)
    expect(step('docker/build-push-action@').with).toMatchObject({ push: true, sbom: true })
    expect(step('cosign sign')).toBeDefined()
    expect(step('actions/attest-build-provenance@').with['subject-digest']).toContain('build.outputs.digest')
  })
})

describe('compose/compose.yaml', () => {
  it('runs nodestate beside a database, without any right', async () => {
    const { services } = parseAllDocuments(read('compose/compose.yaml'))[0]!.toJS()
    expect(services.nodestate).toMatchObject({ read_only: true, cap_drop: ['ALL'], user: '65534:65534' })
    expect(services.nodestate.volumes).toEqual(['logs:/logs:ro'])
    expect(existsSync(join(root, services.nodestate.build.dockerfile))).toBe(true)
    expect(services.nodestate.command).toContain('--token-file')
  })
})

describe('compose/cluster.yaml', () => {
  it('runs three nodes that share one settings file, each with its own logs', async () => {
    const { services, configs } = parseAllDocuments(read('compose/cluster.yaml'), { merge: true })[0]!.toJS()
    const toml = read(join('compose', configs.cluster.file))
    for (const n of [1, 2, 3]) {
      const { command, volumes, ...rest } = services[`state-${n}`]
      expect(rest).toMatchObject({ read_only: true, cap_drop: ['ALL'], user: '65534:65534' })
      expect(volumes).toEqual([`logs-${n}:/logs:ro`])
      const { settings } = await loadSettings({
        flags: serveFlags(command),
        env: {},
        readFile: (path) => (path.endsWith('.toml') ? toml : 'secret'),
      })
      expect(settings).toMatchObject({ logs: '/logs', token: 'secret', peerSelf: `db-${n}` })
      expect(settings.peers.map(([id]) => id)).toContain(settings.peerSelf)
      for (const [id, url] of settings.peers)
        expect(Object.keys(services), url).toEqual(expect.arrayContaining([id, new URL(url).hostname]))
    }
  })
})

describe('systemd/cluster.conf', () => {
  it('is the unit with peers', async () => {
    const start = (file: string) => /^ExecStart=\/usr\/bin\/nodestate serve (.*)$/m.exec(read(file))![1]!
    const unit = start('systemd/nodestate.service')
    expect(start('systemd/cluster.conf').startsWith(unit)).toBe(true)
    const flags = serveFlags(
      start('systemd/cluster.conf')
        .split(' ')
        .map((word) => (word === '%l' ? 'db-1' : word)),
    )
    expect([...flags.keys()]).toEqual(expect.arrayContaining(['settings', 'peer-self', 'peer-token-file']))
  })
})

describe('lambda/template.yaml', () => {
  const [document] = parseAllDocuments(read('lambda/template.yaml'))
  const { Properties: properties } = document!.toJS().Resources.Function

  it('is valid YAML, and names the bundle and its handler', () => {
    expect([...document!.errors, ...document!.warnings]).toEqual([])
    expect(properties.CodeUri).toBe('../../dist/lambda')
    expect(properties.Handler).toBe('lambda.handler')
    expect(Object.keys(properties.Environment.Variables)).toEqual(['NODESTATE_HOME', 'NODESTATE_TOKEN'])
  })

  it('boots: the bundle answers an event', { timeout: 120_000 }, async () => {
    const built = spawnSync('npm', ['run', '--silent', 'build:lambda'], { cwd: root, encoding: 'utf8' })
    expect(built.status, built.stderr).toBe(0)
    const file = join(root, 'dist/lambda/lambda.mjs')
    const event = {
      rawPath: '/api/v1/config',
      rawQueryString: '',
      headers: {},
      requestContext: { http: { method: 'GET' }, stage: '$default', domainName: 'x' },
    }
    const script = `import { handler } from ${JSON.stringify(file)}; console.log(JSON.stringify(await handler(${JSON.stringify(event)})))`
    const env = { PATH: dirname(process.execPath), AWS_REGION: 'us-east-1' }
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: tmpdir(),
      encoding: 'utf8',
      env,
    })
    expect(stderr).toBe('')
    const result = JSON.parse(stdout)
    expect(result.statusCode).toBe(503)
    expect(JSON.parse(result.body)).toMatchObject({
      type: '/problems/not-configured',
      detail: expect.stringContaining('NODESTATE_TOKEN'),
    })
  })
})
