import { mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { tokensFile } from '../../../src/entry/service/tokens-file.ts'

const directory = mkdtempSync(join(tmpdir(), 'nodestate-tokens-'))
const path = join(directory, 'tokens.toml')
const file = (...tokens: string[]) =>
  tokens.map((token) => `[[tokens]]\nname = "${token}"\ntoken = "${token}"\n`).join('')
const namesOf = async (source: ReturnType<typeof tokensFile>) => (await source()).map(({ name }) => name)

afterEach(() => rmSync(path, { force: true, recursive: true }))

describe('a tokens file', () => {
  it('is read again when it is written in place or renamed into place', async () => {
    writeFileSync(path, file('one'))
    const reports: string[] = []
    const source = tokensFile(path, (line) => reports.push(line))
    expect(await namesOf(source)).toEqual(['one'])
    expect(source()).toBe(source())
    writeFileSync(path, file('two'))
    expect(await namesOf(source)).toEqual(['two'])
    writeFileSync(path, file('six'))
    expect(await namesOf(source)).toEqual(['six'])
    const aside = join(directory, 'new.toml')
    writeFileSync(aside, file('ten', 'more'))
    utimesSync(aside, new Date(), new Date(Date.now() - 60_000))
    renameSync(aside, path)
    expect(await namesOf(source)).toEqual(['ten', 'more'])
    expect(reports).toEqual(
      ['1 token', '1 token', '2 tokens'].map((n) => `The tokens file was read again; it has ${n}.`),
    )
  })

  it.each([file('hunter2'), 'tokens = [{name = "a", token = "hunter2"}]'])(
    'is not its text, which is not shown',
    (text) => {
      expect(() => tokensFile(text, () => {})).toThrow(
        /^Cannot use --tokens: it must be the path of a file\.$/,
      )
    },
  )

  it.each([
    ['not TOML', () => writeFileSync(path, `${file('two')}\n[[tokens`)],
    ['empty', () => writeFileSync(path, '')],
    ['gone', () => rmSync(path)],
    ['with a scope that does not exist', () => writeFileSync(path, `${file('two')}scopes = ["all"]`)],
  ])('that is suddenly %s changes nothing, and is reported once', async (_, breakIt) => {
    writeFileSync(path, file('one'))
    const reports: string[] = []
    const source = tokensFile(path, (line) => reports.push(line))
    breakIt()
    for (let i = 0; i < 3; i++) expect(await namesOf(source)).toEqual(['one'])
    expect(reports).toHaveLength(1)
    expect(reports[0]).toMatch(/^Cannot use the tokens file ".*", so its last tokens stay valid: /)
    writeFileSync(path, file('new'))
    expect(await namesOf(source)).toEqual(['new'])
  })

  it.each(['', '# nobody\n', 'tokens = []\n'])(
    'that stays without tokens lets nobody in: %j',
    async (text) => {
      writeFileSync(path, file('one'))
      const source = tokensFile(path, () => {})
      writeFileSync(path, text)
      await expect.poll(() => namesOf(source)).toEqual([])
      writeFileSync(path, file('new'))
      expect(await namesOf(source)).toEqual(['new'])
    },
  )

  it('keeps the service from starting when it cannot be used', () => {
    const start = () => tokensFile(path, () => {})
    expect(start).toThrow('there is no such file')
    writeFileSync(path, 'token = "hunter2"')
    expect(start).toThrow('It may only have [[tokens]] tables.')
    expect(() => tokensFile(directory, () => {})).toThrow('It is not a regular file.')
  })
})
