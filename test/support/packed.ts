import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')

/** A project that has installed the package as npm would have packed it. */
export interface Project {
  folder: string
  /** The files of the package. */
  files: string[]
  tarball: string
  /** Bytes to download. */
  size: number
  /** Puts a package of this repository, or of the test parts, into the project under its name or another. */
  add(name: string, from?: string): void
  /** The same for a package with everything that it depends on, out of a `node_modules` folder. */
  install(name: string, modules?: string): void
  write(name: string, text: string): void
  remove(): void
}

/** Packs what is built and installs it into an empty project, with its dependencies and hono. */
export function packedProject(): Project {
  const folder = mkdtempSync(join(tmpdir(), 'nodestate-packed-'))
  const args = ['pack', '--ignore-scripts', '--json', '--loglevel=error', '--pack-destination', folder]
  const { stdout, stderr, status } = spawnSync('npm', args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  const [{ filename, files, size }] = JSON.parse(stdout)
  const tarball = join(folder, filename)
  const home = join(folder, 'node_modules/nodestate')
  mkdirSync(home, { recursive: true })
  spawnSync('tar', ['-xzf', tarball, '-C', home, '--strip-components=1'])
  const project: Project = {
    folder,
    tarball,
    size,
    files: files.map(({ path }: { path: string }) => path),
    add(name, from = join(root, 'node_modules', name)) {
      const place = join(folder, 'node_modules', name)
      mkdirSync(dirname(place), { recursive: true })
      rmSync(place, { recursive: true, force: true })
      // A copy: through a link it would find its dependencies in this repository.
      cpSync(from, place, { recursive: true })
    },
    install(name, modules = join(root, 'node_modules')) {
      if (existsSync(join(folder, 'node_modules', name)) || !existsSync(join(modules, name))) return
      project.add(name, join(modules, name))
      for (const one of dependenciesOf(join(modules, name))) project.install(one, modules)
    },
    write: (name, text) => writeFileSync(join(folder, name), text),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
  project.write(
    'package.json',
    JSON.stringify({ type: 'module', dependencies: { nodestate: '*', hono: '*' } }),
  )
  for (const name of [...dependenciesOf(root), 'hono']) project.install(name)
  return project
}

function dependenciesOf(folder: string): string[] {
  return Object.keys(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).dependencies ?? {})
}
