// A test of the test: each fault here undoes one fix, and worlds must notice it. See README.md of the folder above.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { bundle, placeOf } from '../bundle.mjs'
import { eachWorld } from '../workers.mjs'

const root = resolve(import.meta.dirname, '../../..')
const TABLE = join(root, 'docs/reliability.md')
const BEGIN = '<!-- faults: npm run simulate -- --faults -->\n'
const END = '<!-- end of faults -->'
const HEAD = '| part | fault | broken rule | worlds |\n|---|---|---|---|\n'

/** The faults of all files: `name`, `part`, `fault`, `fixed`, `rule`, and the `edits` that undo the fix. */
export function readFaults() {
  const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.faults'))
  return files.sort().flatMap((file) => {
    const text = readFileSync(join(import.meta.dirname, file), 'utf8')
    const sections = text.split(/^# /m).slice(1)
    return sections.map((section) => ({ part: file.replace('.faults', ''), ...parse(section) }))
  })
}

/** `In` names a file; lines that begin with `-` stand in it, those with `+` take their place. */
function parse(section) {
  const [name, ...lines] = section.split('\n')
  const fault = { name, edits: [] }
  let file = ''
  let last = '+'
  for (const line of lines) {
    const [, key, value] = /^(\w+): (.+)$/.exec(line) ?? []
    if (key === 'In') file = value
    else if (key !== undefined) fault[key.toLowerCase()] = value
    else if (/^[-+]( |$)/.test(line)) {
      const sign = line[0]
      if (sign === '-' && last === '+') fault.edits.push({ file, from: '', to: '' })
      const edit = fault.edits.at(-1)
      const part = sign === '-' ? 'from' : 'to'
      edit[part] = `${edit[part]}\n${line.slice(2)}`.trim()
      last = sign
    }
  }
  return fault
}

/** What of a fault is not in today's sources, or there twice. */
export function misfits({ edits }) {
  return edits.filter(({ file, from }) => !placeOf(from, readFileSync(join(root, file), 'utf8')))
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
      const { worlds, others, seconds } = await look(fault, sound.url, options)
      isFound &&= worlds !== null
      const seen = others.size === 0 ? '' : `; other rules: ${[...others].join(', ')}`
      const found = worlds === null ? `not found in ${options.most}` : String(worlds)
      console.log(`${fault.name}: ${found} (${seconds.toFixed(1)} s of CPU time)${seen}`)
      writeRow(all, fault, found)
    }
  } finally {
    sound.remove()
  }
  return isFound
}

/** How many worlds it takes until one breaks the rule that the fault is about and, with the fix, breaks none. */
async function look(fault, soundUrl, { from, most, workers }) {
  const others = new Set()
  const faulty = await bundle(fault.edits)
  try {
    const sound = await import(soundUrl)
    const begun = process.cpuUsage()
    const secondsOf = ({ user, system }) => (user + system) / 1e6
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
        return { worlds: first.seed - from + 1, others, seconds: secondsOf(process.cpuUsage(begun)) }
      }
      console.log(`Seed ${first.seed} fails with the fix, too: ${broken[0].slice(0, 300)}`)
      next = first.seed + 1
    }
    return { worlds: null, others, seconds: secondsOf(process.cpuUsage(begun)) }
  } finally {
    faulty.remove()
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

/** Writes one row; the others stay, without those whose fault is gone. */
function writeRow(faults, { fault, part, rule }, worlds) {
  const rows = readRows().set(fault, `| ${part} | ${fault} | ${rule} | ${worlds} |`)
  const inOrder = faults.flatMap((one) => rows.get(one.fault) ?? [])
  const text = readFileSync(TABLE, 'utf8')
  const [before, after] = [text.indexOf(BEGIN) + BEGIN.length, text.indexOf(END)]
  writeFileSync(
    TABLE,
    `${text.slice(0, before)}${HEAD}${inOrder.map((row) => `${row}\n`).join('')}${text.slice(after)}`,
  )
}
