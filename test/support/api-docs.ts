import { readdirSync, readFileSync } from 'node:fs'

/** The pages about the API: the entry, and its parts. */
export const API_DOCUMENTS = [
  'docs/api.md',
  ...readdirSync('docs/api')
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/api/${name}`),
]

/** All of them, as one text. */
export const apiText = () => API_DOCUMENTS.map((path) => readFileSync(path, 'utf8')).join('\n')
