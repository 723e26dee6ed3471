// Writes the API as OpenAPI 3.1 to dist/openapi.json, from the tables that the built code runs on.
//   node scripts/openapi.mjs
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { openApi } from '../dist/openapi/document.js'

const file = new URL('../dist/openapi.json', import.meta.url)
const text = `${JSON.stringify(openApi(), null, 2)}\n`
// Left alone unless it has changed: who reads it meanwhile must not find half of it.
if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text)
