import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import { detectFormat, LEVELS, type LineFormat } from '../../../src/log/format/detect.ts'
import { lineEnd, nextStart } from '../../../src/log/format/lines.ts'
import { parseZone, UTC } from '../../../src/log/time.ts'
import { clockOf, dayOf } from '../../../src/log/wall-clock.ts'
import { expectedPath, FIXTURES, type Fixture, filled, linesOf } from './fixtures.ts'
import { ORIGINS } from './origins.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const REFERENCE = Date.UTC(2026, 10, 15, 14)

/** The records of a text: what a filter sees of each, and what becomes of it as JSON. */
function records(text: string, format: LineFormat, zone = UTC) {
  const all = bytes(text)
  const found = []
  for (let at = 0; at < all.length; ) {
    const next = nextStart(format, all, at, all.length)
    const end = next < 0 ? all.length : next
    const headEnd = lineEnd(all, at, end)
    const time = format.time(all, at, headEnd, zone)
    found.push({
      starts: format.starts(all, at, headEnd),
      time: Number.isNaN(time) ? undefined : zone.format(time),
      level: LEVELS[format.level(all, at, headEnd, end)],
      fields: format.fields(new TextDecoder().decode(all.subarray(at, end)), zone),
    })
    at = end
  }
  return found
}

describe.each(FIXTURES)('$id', (fixture) => {
  const text = linesOf(fixture)
  const format = detectFormat(bytes(text), undefined, { reference: REFERENCE })

  it('is read as it should be: time, level, message, continuation', () => {
    const got = { format: format.name, records: records(text, format).map(({ fields }) => fields) }
    const path = expectedPath(fixture)
    // Files with what is there already stay as they are formatted.
    const known = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null
    if (process.env.NODESTATE_WRITE_DOCS && !isDeepStrictEqual(JSON.parse(JSON.stringify(got)), known))
      writeFileSync(path, `${JSON.stringify(got, null, 2)}\n`)
    expect(got).toEqual(JSON.parse(readFileSync(path, 'utf8')))
  })

  it('shows filters the time and level that its JSON has', () => {
    for (const { starts, time, level, fields } of records(text, format)) {
      if (!starts) continue
      expect(time).toBe(fields.time)
      expect(level).toBe(fields.level)
      expect(fields.raw).toBeUndefined()
    }
  })

  it('has every line in some record, with CRLF too', () => {
    const crlf = text.replaceAll('\n', '\r\n')
    const same = detectFormat(bytes(crlf), undefined, { reference: REFERENCE })
    expect(same.name).toBe(format.name)
    expect(records(crlf, same).map(({ time, level }) => [time, level])).toEqual(
      records(text, format).map(({ time, level }) => [time, level]),
    )
  })

  it('has a thousand lines through midnight and the end of daylight saving time', () => {
    const zone = parseZone('Europe/Berlin')!
    const start = Date.UTC(2026, 9, 24, 14)
    const times = Array.from({ length: 1000 }, (_, i) => start + i * 61_234)
    const last = times.at(-1)!
    const lines = times.map((time) => line(fixture, time))
    const made = detectFormat(bytes(`${lines.join('\n')}\n`), undefined, { reference: last })
    const got = records(`${lines.join('\n')}\n`, made, zone)
    expect(got).toHaveLength(1000)
    expect(got.map(({ time }) => time)).toEqual(times.map((time) => expectedTime(fixture, time)))
    expect(got.every(({ fields }, i) => fields.time === got[i]!.time)).toBe(true)

    function line({ template, utc }: Fixture, time: number) {
      const wall = new Date(utc ? time : time + zone.offsetAt(time))
      return filled(template, time, wall, zone.offsetAt(time) === 7_200_000 ? 'CEST' : 'CET')
    }
    /** A wall clock that happens twice is the first of the two, unless the line names its zone. */
    function expectedTime({ template, utc, unit = 1 }: Fixture, time: number) {
      const exact = Math.floor(time / unit) * unit
      if (utc || template.includes('{zone}')) return zone.format(exact)
      const wall = new Date(exact + zone.offsetAt(exact))
      return zone.format(
        zone.toEpoch(
          dayOf(wall.getUTCFullYear(), wall.getUTCMonth() + 1, wall.getUTCDate()),
          clockOf(wall.getUTCHours(), wall.getUTCMinutes(), wall.getUTCSeconds(), wall.getUTCMilliseconds()),
        ),
      )
    }
  })
})

it('docs/formats.md has every format, with a line of its fixture', () => {
  const groups = [...new Set(FIXTURES.map(({ group }) => group))]
  const tables = groups.map((group) => {
    const rows = FIXTURES.filter((fixture) => fixture.group === group).map((fixture) => {
      const { format, records } = JSON.parse(readFileSync(expectedPath(fixture), 'utf8'))
      expect(ORIGINS[fixture.id], `where ${fixture.id} came from`).toBeDefined()
      return `| ${fixture.title} | ${format} | ${fieldsIn(records)} | ${cell(example(fixture))} | ${ORIGINS[fixture.id]} |`
    })
    return `## ${group}\n\n| log | read as | fields | a line | from |\n|---|---|---|---|---|\n${rows.join('\n')}\n`
  })
  const path = join(import.meta.dirname, '../../../docs/formats.md')
  const text = `${INTRODUCTION}\n${tables.join('\n')}`
  if (process.env.NODESTATE_WRITE_DOCS) writeFileSync(path, text)
  expect(readFileSync(path, 'utf8')).toBe(text)
})

/** The fields that some of the records have, by their names for `where`. */
function fieldsIn(
  records: { level?: string; source?: unknown; tags?: string[]; context?: object }[],
): string {
  const names = records.flatMap(({ level, source, tags, context }) => [
    ...(level ? ['level'] : []),
    ...(source ? ['source'] : []),
    ...(tags ? ['logger'] : []),
    ...Object.keys(context ?? {}),
  ])
  return [...new Set(names)].map((name) => `\`${name}\``).join(' ') || '–'
}

/** The first line that begins a record. */
function example(fixture: Fixture): string {
  const text = linesOf(fixture)
  const format = detectFormat(bytes(text), undefined, { reference: REFERENCE })
  const lines = text.split('\n').filter((line) => format.starts(bytes(line), 0, bytes(line).length))
  const found =
    lines.find((line) => !Number.isNaN(format.time(bytes(line), 0, bytes(line).length, UTC))) ?? lines[0]!
  return found.length > 160 ? `${found.slice(0, 159)}…` : found
}

const cell = (text: string) => `\`${text.replaceAll('\t', '⇥').replaceAll('|', '\\|')}\``

const INTRODUCTION = `# Log formats

nodestate detects the format of a log from its first and last lines. The only thing to configure is the zone of times that do not name one (\`--timezone\`). Each format below is tested with the lines in \`test/log/format/fixtures\`, and this page is generated from them (\`NODESTATE_WRITE_DOCS=1 npx vitest run test/log/format/fixtures.test.ts\`).

- A line that does not begin a record continues the one above and shares its time and level: stack traces, PostgreSQL's DETAIL and STATEMENT lines. In a slow log, a record is a statement with its header.
- Lines of access logs have the level of their status: 5xx \`error\`, 4xx \`warn\`, others \`info\`, whatever else the line says.
- Lines wrapped by Docker, Kubernetes or Fluent Bit are read in their own format. Text views return the bytes of the file; times, levels, filters and JSON records see the wrapped line. Split lines are joined.
- A file may hold two formats: those that its first and last lines show, such as MariaDB's and mysqld_safe's. In a JSON log, every line that begins with a time is a record, such as one of Go's log package or of klog. A record has the time and level of its own line.
- PostgreSQL's severities are known in every language that \`lc_messages\` translates them to.
- A zone in the line takes precedence over \`--timezone\`. Abbreviations that mean one zone are understood (\`CET\`, \`EDT\`, \`JST\`). Those that mean several (\`CST\`, \`IST\`, \`BST\`) are read in \`--timezone\`. Unless that zone has the abbreviation, \`X-Nodestate-Note: ambiguous-zone\` says so.
- A date without a year is the last such day before the file's modification time. A time of day without a date is the last such time before it, and \`X-Nodestate-Note: assumed-date\` says so.
- Anything else is plain text: each line is a record without a time or level, and a request for \`since\` or \`level\` is a 400 that says so.

A tab is shown as ⇥. Lines “after” a page were written by its rules.

## Fields

What a line says besides its time, level and message is in the record's \`context\`; the logger is in \`tags\`, the file and line in \`source\`. All of it can be searched with \`where\`, in \`/fields\` and through Loki. Text formats use the same names:

| field | what it is |
|---|---|
| \`thread\`, \`pid\` | the thread by its name or number, the process |
| \`client\`, \`user\`, \`db\`, \`host\` | who asked, without a port; as whom; which database; on or from which host |
| \`duration\` | how long it took in milliseconds, as a number, whatever the unit in the line |
| \`status\`, \`method\`, \`path\`, \`query\`, \`protocol\`, \`bytes\`, \`referrer\`, \`agent\` | an access log's request and answer. \`path\` is without the query, \`query\` without its \`?\`, both as written. A request that is not HTTP has no \`method\` |
| \`upstream\`, \`vhost\`, \`server\` | the address of the server behind a proxy (HAProxy's \`backend/server\`), the virtual host, nginx' server |
| \`query_time\`, \`lock_time\`, \`rows_sent\`, \`rows_examined\`, … | everything in the header of a slow log, in small letters; times in seconds, as written; \`Schema\` is \`db\` |
| \`prefix\` | what stands before a message and was not understood |
| any other | by the name that its system has for it |

- A \`-\` is no field. Numbers such as \`pid\`, \`status\`, \`bytes\` and \`duration\` are numbers.
- nginx' \`$request_time\` is in seconds and has a fraction, Apache's \`%D\` is in microseconds and has none: that is how they are told apart.
- PostgreSQL's \`duration: 12.345 ms\`, the total of a checkpoint, the elapsed time of autovacuum and Elasticsearch's \`took_millis\` are \`duration\`.
- \`key=value\` in the first line of a message is a field of the record, in every text format: up to 100 of them in the first 16 KiB. A value ends at a blank or a comma, or is quoted. \`key: value\` is none, and neither is \`a=b\` in SQL. A field that the record has otherwise comes first.
- JSON lines keep the names of their members. PostgreSQL's \`dbname\` and \`remote_host\`, journald's \`_PID\` and \`_HOSTNAME\` and Elasticsearch's \`took_millis\` have the names above, and so do the members of access logs.
- The message of Serilog is its template with the values put in.
`
