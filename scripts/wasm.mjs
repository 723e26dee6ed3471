// Compiles src/log/scanner.wat into src/log/scanner-code.ts; with --check, only tells whether that is up to date.
import { readFileSync, writeFileSync } from 'node:fs'
import openWabt from 'wabt'

const source = new URL('../src/log/scanner.wat', import.meta.url)
const target = new URL('../src/log/scanner-code.ts', import.meta.url)

const wabt = await openWabt()
const features = { simd: true, threads: true }
const parsed = wabt.parseWat('scanner.wat', readFileSync(source, 'utf8'), features)
parsed.validate(features)
const text = Buffer.from(parsed.toBinary({}).buffer).toString('base64')
const lines = text.match(/.{1,100}/g).map((part) => `  '${part}'`)
const code = `/** scanner.wat, compiled by \`npm run wasm\`. */\nexport const CODE =\n${lines.join(' +\n')}\n`

if (!process.argv.includes('--check')) writeFileSync(target, code)
else if (readFileSync(target, 'utf8') !== code) {
  console.error('scanner-code.ts is not what scanner.wat gives: run `npm run wasm`.')
  process.exitCode = 1
}
