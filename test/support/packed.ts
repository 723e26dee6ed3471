import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')

/** A project that has installed the package as npm would have packed it. */
export interface Project {
  folder: string
  /** The files of the package. */
  files: string[]
  tarball: string
  /** Puts a package of this repository, or of the test parts, into the project under its name or another. */
  add(name: string, from?: string): void
  write(name: string, text: string): void
  remove(): void
}

/** Packs what is built and installs it into an empty project, with its dependencies and hono. */
export function packedProject(): Project {
  const folder = mkdtempSync(join(tmpdir(), 'nodestate-packed-'))
  const args = ['pack', '--ignore-scripts', '--json', '--loglevel=error', '--pack-destination', folder]
  const { stdout, stderr, status } = spawnSync('npm', args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  const [{ filename, files }] = JSON.parse(stdout)
  const tarball = join(folder, filename)
  const home = join(folder, 'node_modules/nodestate')
  mkdirSync(home, { recursive: true })
  spawnSync('tar', ['-xzf', tarball, '-C', home, '--strip-components=1'])
  const project: Project = {
    folder,
    tarball,
    files: files.map(({ path }: { path: string }) => path),
    add(name, from = join(root, 'node_modules', name)) {
      const place = join(folder, 'node_modules', name)
      mkdirSync(dirname(place), { recursive: true })
      rmSync(place, { recursive: true, force: true })
      // A copy: through a link it would find its dependencies in this repository.
      cpSync(from, place, { recursive: true })
    },
    write: (name, text) => writeFileSync(join(folder, name), text),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
  project.write(
    'package.json',
    JSON.stringify({ type: 'module', dependencies: { nodestate: '*', hono: '*' } }),
  )
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  for (const name of withTheirs([...Object.keys(dependencies), 'hono'])) project.add(name)
  return project
}

/** Packages with their own dependencies. */
function withTheirs(names: string[]): Set<string> {
  const all = new Set(names)
  for (const name of all) {
    const { dependencies = {} } = JSON.parse(
      readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'),
    )
    for (const theirs of Object.keys(dependencies)) all.add(theirs)
  }
  return all
}
