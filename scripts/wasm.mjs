// Compiles scanner.wat with its parts into scanner-code.ts; with --check, only reports whether that is up to date.
import { readFileSync, writeFileSync } from 'node:fs'
import openWabt from 'wabt'

const room = new URL('../src/log/scanner/', import.meta.url)
const target = new URL('scanner-code.ts', room)
/** Each stands in scanner.wat where a line says that it follows. */
const PARTS = ['silent.wat', 'shapes.wat']

const wabt = await openWabt()
const read = (name) => readFileSync(new URL(name, room), 'utf8')
const wat = PARTS.reduce((whole, part) => {
  const place = `  ;; ${part} follows here.\n`
  if (!whole.includes(place)) throw new Error(`scanner.wat has no place for ${part}`)
  return whole.replace(place, () => `${read(part)}\n`)
}, read('scanner.wat'))
const own = compile(wat)
// With shared memory it is the same code but for one byte, which says so.
const shared = compile(wat.replace('(memory 1 65536)', '(memory 1 65536 shared)'))
const differing = own.flatMap((byte, i) => (byte === shared[i] ? [] : [i]))
if (differing.length !== 1 || own.length !== shared.length) throw new Error('More than one byte differs')
const [at] = differing

const lines = Buffer.from(own)
  .toString('base64')
  .match(/.{1,100}/g)
  .map((part) => `  '${part}'`)
const code = `/** scanner.wat and its parts, compiled by \`npm run wasm\`. */
export const CODE =
${lines.join(' +\n')}
/** The byte that says what memory it takes, and its value when that is shared. */
export const MEMORY_BYTE = ${at}
export const SHARED = ${shared[at]}
`

if (!process.argv.includes('--check')) writeFileSync(target, code)
else if (readFileSync(target, 'utf8') !== code) {
  console.error('scanner-code.ts is not what scanner.wat and its parts give: run `npm run wasm`.')
  process.exitCode = 1
}

function compile(text) {
  const features = { simd: true, threads: true }
  const parsed = wabt.parseWat('scanner.wat', text, features)
  parsed.validate(features)
  return [...parsed.toBinary({}).buffer]
}
