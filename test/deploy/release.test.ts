import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const SECTION = '## [1.2.3] - 2026-11-17\n\n- A thing.\n'

/** What the script says about a changelog. */
function check(changelog: string, tag = 'v1.2.3'): string {
  const folder = mkdtempSync(join(tmpdir(), 'nodestate-release-'))
  try {
    mkdirSync(join(folder, 'scripts'))
    cpSync('scripts/release.mjs', join(folder, 'scripts/release.mjs'))
    writeFileSync(join(folder, 'package.json'), '{"version":"1.2.3"}')
    writeFileSync(join(folder, 'CHANGELOG.md'), changelog)
    const { status, stderr } = spawnSync(process.execPath, ['scripts/release.mjs', tag], {
      cwd: folder,
      encoding: 'utf8',
    })
    expect(status).toBe(stderr === '' ? 0 : 1)
    return stderr
  } finally {
    rmSync(folder, { recursive: true })
  }
}

it.each([
  ['the section alone', SECTION],
  ['an empty [Unreleased]', `## [Unreleased]\n\n${SECTION}`],
  ['headings without entries', `## [Unreleased]\n\n### Added\n\n### Fixed\n\n${SECTION}`],
])('a changelog can be released with %s', (_, text) => {
  expect(check(`# Changelog\n\nWords.\n\n${text}`)).toBe('')
})

it.each([
  ['an entry', '### Fixed\n\n- A bug.\n\n'],
  ['a sentence', 'Soon.\n\n'],
])('a changelog with %s under [Unreleased] is refused', (_, text) => {
  expect(check(`# Changelog\n\n## [Unreleased]\n\n${text}${SECTION}`)).toContain('under [Unreleased]')
  // Wherever the section is.
  expect(check(`# Changelog\n\n${SECTION}\n## [Unreleased]\n\n${text}`)).toContain('under [Unreleased]')
})

it('a tag must be the version, and have a dated section', () => {
  expect(check(SECTION, 'v1.2.4')).toContain('package.json has the version 1.2.3')
  expect(check('## [1.2.3]\n\n- A thing.\n')).toContain('no section')
})

it('workflows name actions by commit, with the version beside it', () => {
  const used = readdirSync('.github/workflows').flatMap((name) => [
    ...readFileSync(join('.github/workflows', name), 'utf8').matchAll(/uses: (.*)$/gm),
  ])
  expect(used.length).toBeGreaterThan(8)
  for (const [, action] of used) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
})

it('the base image is named by digest, and publishing takes no long-lived token', () => {
  const base = /^ARG BASE=(\S+)$/m.exec(readFileSync('deploy/container/Containerfile', 'utf8'))![1]!
  expect(base).toMatch(/^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/)
  const workflow = readFileSync('.github/workflows/release.yml', 'utf8')
  const secrets = [...workflow.matchAll(/secrets\.(\w+)/g)].map(([, name]) => name)
  expect(secrets).toEqual(['GITHUB_TOKEN'])
  expect(workflow).toContain('id-token: write')
})

it('what mounts the log directories of hosts, or a bucket, has its token in a file', () => {
  for (const name of ['daemonset.yaml', 'fleet/deployment.yaml']) {
    const manifest = readFileSync(join('deploy/kubernetes', name), 'utf8')
    expect(manifest).toContain('--token-file')
    expect(manifest).not.toContain('NODESTATE_TOKEN')
  }
})
