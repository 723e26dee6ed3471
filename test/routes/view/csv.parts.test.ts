import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/store/memory.ts'
import { cleanUp, temporaryDirectory } from '../../program.ts'
import { createApp } from '../../support/app.ts'
import { readCsv } from '../../support/csv.ts'
import { lacking } from '../../support/parts.ts'

const OFFICE = '/usr/bin/soffice'
const missing = existsSync(OFFICE)
  ? null
  : lacking('LibreOffice is not installed: apt-get install libreoffice-calc')
afterAll(cleanUp)

const MESSAGES = [
  'plain',
  'with "quotes", commas; and\ttabs',
  '=HYPERLINK("http://x")',
  '+1+1',
  '-5',
  '@SUM(1)',
  '007',
  '1e5',
  '01/02/03',
  "'quoted'",
  'ünïcode 漢字 🙂',
  'stack\n  at one\n  at two',
  ' blanks around ',
]
const LOG = MESSAGES.map(
  (message, i) =>
    `2026-11-15 02:10:${String(i).padStart(2, '0')}.000\tINFO\ta/b.go:12\t[Broker]: ${message}\t{"id":12345678901234567890,"ratio":1.50}\n`,
).join('')

/** What a spreadsheet makes of a table: as a table again, or as a document. */
function opened(csv: string, columns: string, format: 'csv' | 'fods'): string {
  const folder = temporaryDirectory()
  writeFileSync(join(folder, 'table.csv'), csv)
  const to = format === 'csv' ? 'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false' : 'fods'
  execFileSync(
    OFFICE,
    [
      `-env:UserInstallation=${pathToFileURL(join(folder, 'profile')).href}`,
      '--headless',
      `--infilter=CSV:44,34,76,1,${columns}`,
      '--convert-to',
      to,
      '--outdir',
      join(folder, 'out'),
      join(folder, 'table.csv'),
    ],
    { timeout: 120_000, stdio: 'pipe' },
  )
  return readFileSync(join(folder, 'out', `table.${format}`), 'utf8')
}

const title = missing ? `a page as CSV in LibreOffice (${missing})` : 'a page as CSV in LibreOffice'

describe.skipIf(missing)(title, { timeout: 300_000 }, () => {
  const table = async () => {
    const app = createApp({ logs: memoryStore({ 'a.log': LOG }), config: '' })
    const query = 'file=a.log&format=csv&columns=time,level,message,id,ratio'
    return (await app.request(`/api/v1/log/view?${query}`)).text()
  }

  it('has the cells that a strict reader finds, where columns are read as text', async () => {
    const csv = await table()
    const columns = [1, 2, 3, 4, 5].map((column) => `${column}/2`).join('/')
    const rows = opened(csv, columns, 'csv').replaceAll(/\n(?=time,|2026-|$)/g, '\r\n')
    expect(readCsv(rows)).toEqual(readCsv(csv))
    expect(readCsv(csv)).toHaveLength(MESSAGES.length + 1)
  })

  it('has no formula, however columns are read', async () => {
    expect(opened(await table(), '', 'fods')).not.toContain('table:formula')
    // The same cell without the mark in front of it would be one.
    expect(opened('a\r\n=1+1\r\n', '', 'fods')).toContain('table:formula')
  })
})
