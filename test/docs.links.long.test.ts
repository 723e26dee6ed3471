import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'

const DOCUMENTS = [
  ...[
    'README.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'CHANGELOG.md',
    'deploy/README.md',
    'examples/README.md',
  ],
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
]

/** Every flag of every command, as its help shows them. */
const FLAGS = new Set(
  [
    'serve',
    'ship',
    'tail',
    'grep',
    'diff',
    'incident',
    'ls',
    'config',
    'token',
    'completion',
    'compact',
    'demo',
  ].flatMap((command) => {
    const help = execFileSync(process.execPath, ['dist/entry/cli.js', 'help', command], {
      encoding: 'utf8',
    })
    return help.match(/--[a-z][a-z-]*/g) ?? []
  }),
)
/** Flags of the benches and scripts, of Node, of Deno and of podman. */
const OTHERS = [
  '--base',
  '--every',
  '--write',
  '--rows',
  '--runtime',
  '--allow-net',
  '--allow-read',
  '--allow-env',
  '--build-arg',
  '--project',
]
const SCRIPTS = Object.keys(JSON.parse(readFileSync('package.json', 'utf8')).scripts)

/** The anchor that GitHub gives a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

const anchorsOf = (text: string) => [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading!))

describe.each(DOCUMENTS)('%s', (document) => {
  const text = readFileSync(document, 'utf8')

  it('links to files and headings that exist', () => {
    for (const [, link] of text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
      const [path, anchor] = link!.split('#')
      const target = path === '' ? document : normalize(join(dirname(document), path!))
      expect(existsSync(target), link).toBe(true)
      if (anchor) expect(anchorsOf(readFileSync(target, 'utf8')), link).toContain(anchor)
    }
  })

  it('names files that exist', () => {
    const paths = [...text.matchAll(/`((?:src|test|bench|docs|scripts|deploy)\/[\w./-]+)`/g)].map(
      ([, path]) => path!,
    )
    // CONTRIBUTING.md makes up a format.
    for (const path of paths) expect(existsSync(path) || path.includes('acme'), path).toBe(true)
  })

  // A changelog names what is gone.
  it.skipIf(document === 'CHANGELOG.md')('names scripts and flags that exist', () => {
    for (const [, name] of text.matchAll(/npm run ([\w:]+)/g)) expect(SCRIPTS).toContain(name)
    const commands = [
      ...text.matchAll(
        /(?:npm start --|\bnodestate (?:ship|serve|tail|grep|diff|incident|ls|config|token)\b|dist\/cli\.js|npx nodestate)[^`\n]*/g,
      ),
    ]
    const alone = [...text.matchAll(/`(--[a-z][a-z-]*)[ `=]/g)].filter(([, flag]) => !OTHERS.includes(flag!))
    for (const [command] of [...commands, ...alone])
      for (const flag of command.match(/(?<![\w-])--[a-z][a-z-]*/g) ?? [])
        expect([...FLAGS], command).toContain(flag)
  })
})

it('docs/architecture.md names folders and files that exist', () => {
  const text = readFileSync('docs/architecture.md', 'utf8')
  const names = [...text.matchAll(/`([a-z][\w-]*(?:\/[\w.-]+)*(?:\/|\.ts))`/g)].map(([, name]) => name!)
  expect(names.length).toBeGreaterThan(30)
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  // In a row about a folder, the names in it stand alone.
  for (const name of names)
    expect(
      existsSync(name) || files.some((file) => `/${file}`.endsWith(`/${name.replace(/\/$/, '')}`)),
      name,
    ).toBe(true)
})

/** The packages that a program imports. */
const packagesOf = (text: string) =>
  [...text.matchAll(/from '((?:@[\w-]+\/)?[\w-]+)[^':]*'/g)]
    .map(([, name]) => name!)
    .filter((name) => name !== 'node')

/** The packages that a document says to install. */
const installedBy = (document: string) =>
  [...readFileSync(document, 'utf8').matchAll(/npm i ([^\n`]+)/g)].flatMap(([, names]) => names!.split(' '))

it('docs/embedding.md and examples/README.md say to install all that their programs import', () => {
  const snippets = [...readFileSync('docs/embedding.md', 'utf8').matchAll(/```js\n([\s\S]*?)```/g)].map(
    ([, text]) => text!,
  )
  expect(snippets.length).toBeGreaterThan(2)
  for (const text of snippets)
    for (const name of packagesOf(text)) expect(installedBy('docs/embedding.md')).toContain(name)
  const examples = readdirSync('examples', { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.js'),
  )
  expect(examples.length).toBeGreaterThan(4)
  for (const name of examples)
    for (const each of packagesOf(readFileSync(join('examples', name), 'utf8')))
      expect(installedBy('examples/README.md'), name).toContain(each)
})
