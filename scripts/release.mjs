// Checks that a tag can be released: it is the version of the package, and CHANGELOG.md has a dated section for it.
//   node scripts/release.mjs v0.1.0
import { readFileSync } from 'node:fs'

const read = (name) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')
const tag = process.argv[2]
const { version } = JSON.parse(read('package.json'))
if (tag !== `v${version}`) refuse(`The tag is ${tag}, but package.json has the version ${version}.`)
const section = new RegExp(`^## \\[${version.replaceAll('.', '\\.')}\\] - \\d{4}-\\d\\d-\\d\\d$`, 'm')
if (!section.test(read('CHANGELOG.md'))) refuse(`CHANGELOG.md has no section "## [${version}] - YYYY-MM-DD".`)

function refuse(message) {
  console.error(message)
  process.exit(1)
}
