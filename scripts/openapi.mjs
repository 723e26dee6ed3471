// Writes the API as OpenAPI 3.1 to dist/openapi.json, from the tables that the built code runs on.
//   node scripts/openapi.mjs
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { openApi } from '../dist/doors/openapi/document.js'

const file = new URL('../dist/openapi.json', import.meta.url)
const text = `${JSON.stringify(openApi())}\n`
// Moved into place, so that a concurrent reader never sees half a file.
if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
  const aside = new URL(`../dist/openapi-${process.pid}.json`, import.meta.url)
  writeFileSync(aside, text)
  renameSync(aside, file)
}
