// Checks that a tag can be released: it is the version of the package, CHANGELOG.md has a dated section for it, and
// nothing is left under [Unreleased].
//   node scripts/release.mjs v0.1.0
import { readFileSync } from 'node:fs'

const read = (name) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')
const tag = process.argv[2]
const { version } = JSON.parse(read('package.json'))
if (tag !== `v${version}`) refuse(`The tag is ${tag}, but package.json has the version ${version}.`)
/** The sections of the changelog: title and text. */
const sections = read('CHANGELOG.md')
  .split(/^## /m)
  .slice(1)
  .map((section) => [section.split('\n', 1)[0].trim(), section.slice(section.split('\n', 1)[0].length)])
const released = new RegExp(`^\\[${version.replaceAll('.', '\\.')}\\] - \\d{4}-\\d\\d-\\d\\d$`)
if (!sections.some(([title]) => released.test(title)))
  refuse(`CHANGELOG.md has no section "## [${version}] - YYYY-MM-DD".`)
for (const [title, text] of sections)
  if (/^\[?unreleased\b/i.test(title) && text.split('\n').some((line) => !/^\s*(###.*)?$/.test(line)))
    refuse(`CHANGELOG.md has entries under [Unreleased]: move them to the section of ${version}.`)

function refuse(message) {
  console.error(message)
  process.exit(1)
}
