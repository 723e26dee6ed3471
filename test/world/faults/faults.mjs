// A test of the test: each patch here undoes one fix, and worlds must notice it. See README.md of the folder above.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { bundle } from '../bundle.mjs'
import { eachWorld } from '../workers.mjs'

const root = resolve(import.meta.dirname, '../../..')
const TABLE = join(root, 'docs/reliability.md')
const BEGIN = '<!-- faults: npm run simulate -- --faults -->\n'
const END = '<!-- end of faults -->'
const HEAD = '| part | fault | broken rule | worlds |\n|---|---|---|---|\n'

/** The faults: `name`, and what the lines before the patch say: `part`, `fault`, `fixed` and `rule`. */
export function readFaults() {
  const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.patch'))
  return files.sort().map((file) => {
    const path = join(import.meta.dirname, file)
    const [preamble] = readFileSync(path, 'utf8').split(/^diff --git /m)
    const members = Object.fromEntries(
      [...preamble.matchAll(/^(\w+): (.+)$/gm)].map(([, key, value]) => [key.toLowerCase(), value]),
    )
    return { name: file.replace(/\.patch$/, ''), path, ...members }
  })
}

/** Whether a patch still fits today's sources. */
export function fits({ path }) {
  return spawnSync('git', ['apply', '--check', path], { cwd: root }).status === 0
}

/** A copy of the sources and the simulator in which one fix is undone. Throws if the patch no longer fits. */
function undo({ path }) {
  const folder = mkdtempSync(join(tmpdir(), 'nodestate-fault-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    for (const part of ['src', 'test/world', 'package.json', 'tsconfig.json'])
      cpSync(join(root, part), join(folder, part), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    // Not within a repository, where git would leave out what it does not know.
    const env = { ...process.env, GIT_CEILING_DIRECTORIES: tmpdir() }
    execFileSync('git', ['apply', '--whitespace=nowarn', path], { cwd: folder, env, stdio: 'pipe' })
  } catch (error) {
    remove()
    throw error
  }
  return { folder, remove }
}

/** Undoes each of these fixes, or all, and writes what was found into the table. Returns whether all were noticed. */
export async function undoFixes(names, options) {
  const all = readFaults()
  const unknown = names.find((name) => !all.some((fault) => fault.name === name))
  if (unknown !== undefined) {
    console.error(`There is no fault ${unknown}: ${all.map(({ name }) => name).join(', ')}`)
    return false
  }
  const sound = await bundle()
  let isFound = true
  try {
    const chosen = names.map((name) => all.find((fault) => fault.name === name))
    for (const fault of names.length === 0 ? all : chosen) {
      const { worlds, others } = await look(fault, sound.url, options)
      isFound &&= worlds !== null
      const seen = others.size === 0 ? '' : `; other rules: ${[...others].join(', ')}`
      console.log(
        `${fault.name}: ${worlds === null ? `not found in ${options.most}` : `${worlds} worlds`}${seen}`,
      )
      writeRow(all, fault, worlds === null ? `not found in ${options.most}` : String(worlds))
    }
  } finally {
    sound.remove()
  }
  return isFound
}

/** How many worlds it takes until one breaks the rule that the fault is about and, with the fix, breaks none. */
async function look(fault, soundUrl, { from, most, workers }) {
  const copy = undo(fault)
  const others = new Set()
  let faulty = null
  try {
    faulty = await bundle(copy.folder)
    const sound = await import(soundUrl)
    for (let next = from; next < from + most; ) {
      const first = await firstBroken(fault, {
        url: faulty.url,
        from: next,
        to: from + most,
        workers,
        others,
      })
      if (!first) break
      const { broken } = await sound.runWorld(sound.planOf(first.seed))
      if (broken.length === 0) {
        console.log(`${fault.name}: seed ${first.seed}: ${first.broken[0].slice(0, 300)}`)
        return { worlds: first.seed - from + 1, others }
      }
      console.log(`Seed ${first.seed} fails with the fix, too: ${broken[0].slice(0, 300)}`)
      next = first.seed + 1
    }
    return { worlds: null, others }
  } finally {
    faulty?.remove()
    copy.remove()
  }
}

/** The first world that breaks the rule of a fault; undefined if there is none. Other rules are added to `others`. */
async function firstBroken({ rule }, { url, from, to, workers, others }) {
  const found = []
  await eachWorld(url, { from, count: to - from }, { workers }, (world) => {
    const isRight = world.broken.some((what) => what.startsWith(`${rule}: `))
    if (isRight) found.push(world)
    else if (world.broken.length > 0) others.add(world.broken[0].split(':')[0])
    return isRight
  })
  return found.sort((a, b) => a.seed - b.seed)[0]
}

/** The rows of the table by their faults. */
export function readRows() {
  const [, table] = /<!-- faults: .*? -->\n(.*?)<!-- end of faults -->/s.exec(readFileSync(TABLE, 'utf8'))
  const rows = table.split('\n').filter((line) => line.startsWith('| '))
  return new Map(rows.slice(1).map((row) => [row.split(' | ')[1], row]))
}

/** Writes one row; the others stay, without those whose patch is gone. */
function writeRow(faults, { fault, part, rule }, worlds) {
  const rows = readRows().set(fault, `| ${part} | ${fault} | ${rule} | ${worlds} |`)
  const inOrder = [...faults]
    .sort((a, b) => a.part.localeCompare(b.part))
    .flatMap((one) => rows.get(one.fault) ?? [])
  const text = readFileSync(TABLE, 'utf8')
  const [before, after] = [text.indexOf(BEGIN) + BEGIN.length, text.indexOf(END)]
  writeFileSync(
    TABLE,
    `${text.slice(0, before)}${HEAD}${inOrder.map((row) => `${row}\n`).join('')}${text.slice(after)}`,
  )
}
