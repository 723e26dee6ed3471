import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { NAMINGS } from './namings.ts'

const PAGE = 'docs/rotation.md'

it('docs/rotation.md has the namings that the tests prove (NODESTATE_WRITE_DOCS=1 writes them)', () => {
  const page = readFileSync(PAGE, 'utf8')
  const written = page.replace(
    /(<!-- namings -->\n)[\s\S]*?(<!-- end -->)/,
    (_, start, end) => `${start}${table()}${end}`,
  )
  if (process.env.NODESTATE_WRITE_DOCS) writeFileSync(PAGE, written)
  else expect(page).toBe(written)
})

function table(): string {
  const rows = NAMINGS.map(({ who, how, files, log, links = [], note = '' }) => {
    const shown = files.length > 4 ? [files[0], files[1], '…', files.at(-2), files.at(-1)] : files
    const names = shown.map((name) => (name === '…' ? name : `\`${name}\``)).join(', ')
    const linked = links.map(([link]) => `; link \`${link}\``).join('')
    return `| ${who} | ${how} | ${names}${linked} | \`${log}\` | ${note} |\n`
  })
  return `| program | naming | files, oldest first | \`log\` | |\n|---|---|---|---|---|\n${rows.join('')}`
}
