import { readFileSync } from 'node:fs'

/** The constructs of docs/integrations.md: each query, and whether it is supported. */
export const constructs = [
  ...readFileSync('docs/integrations.md', 'utf8').matchAll(/^\| `(.+)` \| (supported|refused) \|$/gm),
].map(([, query, verdict]) => ({
  query: query!.replaceAll('\\|', '|'),
  isSupported: verdict === 'supported',
}))
