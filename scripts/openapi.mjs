// Writes the API as OpenAPI 3.1 to dist/openapi.json, from the tables that the built code runs on.
//   node scripts/openapi.mjs
import { writeFileSync } from 'node:fs'
import { openApi } from '../dist/openapi/document.js'

writeFileSync(new URL('../dist/openapi.json', import.meta.url), `${JSON.stringify(openApi(), null, 2)}\n`)
