import { MASK } from '../../../core/mask/redact.ts'
import { namesSecret } from '../../../core/mask/secret.ts'
import { SENTENCES } from '../../../doors/client/notes.ts'
import type { Comparison, ConfigVersion, LogFinding, LogRecord } from '../../../doors/client.ts'
import { isTurnOver, yieldToEventLoop } from '../../../kit/limits/yield.ts'
import { chartOf } from './chart.ts'
import { AFTER, BEFORE, type Incident, type IncidentNode, type Part } from './collect.ts'
import { anchor, type Html, joined, markup, text, withoutLastWord, withoutSecrets } from './html.ts'
import { STYLE } from './style.ts'

/** What a document says about its origin. */
export interface Origin {
  /** When it was made. */
  now: number
  version: string
  /** The hash of its style, for its own policy. */
  styleHash: string
  time(ms: number): string
  zone: string
  /** Where records can be read: the address for a query string. */
  link(query: string): string
}

/** Bytes that the rows of each table may take: together with the rest, a file stays below 500 KB. */
const BYTES = { errors: 60_000, excerpt: 230_000, changes: 60_000, settings: 40_000, nodes: 24_000 }
const LONGEST_MESSAGE = 1500
const LONGEST_VALUE = 300
/** How long the example of a finding is at most: one that is as long was cut. */
const EXAMPLE = 300

/** An incident as one HTML file: it loads nothing, runs nothing, and has no secret in it. */
export async function documentOf(incident: Incident, origin: Origin): Promise<string> {
  const { range, base } = incident.comparison
  const period = ({ from, to }: { from: number; to: number }) =>
    text(`${origin.time(from)} to ${origin.time(to)}`)
  const title = markup`Incident ${period(range)}`
  const secrets = new Set<string>()
  const policy = `default-src 'none'; style-src 'sha256-${origin.styleHash}'; base-uri 'none'; form-action 'none'`
  const sections = [
    headOf(incident, origin),
    markup`<h2>Records over time</h2>${chartSection(incident, origin)}`,
    markup`<h2>What is different</h2><p>Compared with ${period(base)}: ${base.records} records there, ${range.records} here.</p>${await findingsSection(incident, origin, secrets)}`,
    markup`<h2>First errors</h2>${await recordsSection(incident.errors, BYTES.errors, secrets)}`,
    markup`<h2>Records around the first error</h2><p>At most ${BEFORE} before it and ${AFTER} from it on; long ones are cut.</p>${await recordsSection(incident.excerpt, BYTES.excerpt, secrets)}`,
    markup`<h2>Changes of the configuration</h2>${await changesSection(incident.nodes, origin)}`,
    incident.settings
      ? markup`<h2>Settings that differ between the nodes</h2>${await settingsSection(incident.settings)}`
      : markup``,
    markup`<h2>Nodes</h2>${await nodesSection(incident.nodes, origin)}`,
  ]
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${text(policy)}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE as Html}</style>
</head>
<body>
<h1>${title}</h1>
${withoutSecrets(joined(sections), secrets)}
<footer>Written by nodestate ${text(origin.version)} at ${text(origin.time(origin.now))}. Times are in the zone ${text(origin.zone)}, those of records as in their log. Secrets that can be told by their form or their name are masked.</footer>
</body>
</html>
`
}

function headOf({ query, comparison, ...parts }: Incident, { link }: Origin): Html {
  const { file, node, since: _, until: __, rotated: ___, ...filters } = query
  const rows = [
    markup`<dt>Logs</dt><dd>${text([file].flat().join(', '))}</dd>`,
    ...(node === undefined ? [] : [markup`<dt>Nodes</dt><dd>${text([node].flat().join(', '))}</dd>`]),
    ...Object.entries(filters).map(
      ([name, value]) =>
        markup`<dt>${text(name)}</dt><dd>${text([value].flat().map(String).join(', '))}</dd>`,
    ),
    markup`<dt>Live</dt><dd>${anchor(link(queryText(query)), 'these records in nodestate')}</dd>`,
  ]
  const found = [parts.chart, parts.errors, parts.excerpt, parts.nodes]
  const notes = new Set([
    ...comparison.notes,
    ...found.flatMap((part) => ('found' in part ? part.notes : [])),
  ])
  const lacks = [
    ...(comparison.complete ? [] : ['A budget ran out before everything was compared.']),
    ...[...notes].map((note) => SENTENCES[note] ?? `The answer has the note ${note}.`),
    ...comparison.missing.map(({ name, reason }) => `${name} is not in this file (${reason || 'unknown'}).`),
  ]
  const warned = lacks.map((sentence) => markup`<li>${text(sentence)}</li>`)
  return markup`<dl>${rows}</dl>${warned.length > 0 ? markup`<ul class="lacks">${warned}</ul>` : markup``}`
}

function queryText(query: object): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    for (const one of [value ?? []].flat()) params.append(name, String(one))
  return params.toString()
}

const problemText = ({ problem }: { problem: string }) => markup`<p class="lacks">${text(problem)}</p>`

function chartSection({ chart, comparison, nodes }: Incident, { time }: Origin): Html {
  if ('problem' in chart) return problemText(chart)
  const changes =
    'found' in nodes ? nodes.found.flatMap((node) => versionsOf(node).map(({ time }) => time)) : []
  return chartOf({ chart: chart.found, range: comparison.range, changes, time })
}

async function findingsSection(
  { comparison }: Incident,
  { link }: Origin,
  secrets: Set<string>,
): Promise<Html> {
  const { findings } = comparison
  if (findings.length === 0) return markup`<p>The range resembles its base.</p>`
  const rows = findings.map((finding) => () => findingRow(finding, link, secrets))
  const body = await tableRows(rows, BYTES.settings)
  return markup`<table><tr><th>kind</th><th>what</th><th>here</th><th>before</th><th>where</th></tr>${body}</table>`
}

function findingRow(finding: LogFinding, link: Origin['link'], secrets: Set<string>): Html {
  const { kind, count, base, node, file, example, query } = finding
  const place = [node, file].filter(Boolean).join('/')
  const shown =
    example === undefined
      ? markup``
      : markup`<br><small>${text(example.length < EXAMPLE ? example : withoutLastWord(example), EXAMPLE, secrets)}</small>`
  const records = query === undefined ? markup`` : markup` ${anchor(link(query), 'records')}`
  return markup`<tr><td class="k">${text(kind)}</td><td>${text(whatOf(finding), LONGEST_VALUE)}${shown}</td><td class="n">${count}</td><td class="n">${base}</td><td>${text(place)}${records}</td></tr>`
}

/** A value is masked by the name of its field, too. */
function whatOf({ kind, what }: LogFinding): string {
  const [, field] = /^([^:]+):./s.exec(what) ?? []
  return kind === 'field' && field !== undefined && namesSecret(field) ? `${field}:${MASK}` : what
}

async function recordsSection(part: Part<LogRecord[]>, most: number, secrets: Set<string>): Promise<Html> {
  if ('problem' in part) return problemText(part)
  if (part.found.length === 0) return markup`<p>There are none.</p>`
  const body = await tableRows(
    part.found.map((record) => () => recordRow(record, secrets)),
    most,
  )
  return markup`<table class="records"><tr><th>time</th><th>level</th><th>log</th><th>message</th></tr>${body}</table>`
}

function recordRow(record: LogRecord, secrets: Set<string>): Html {
  const { time, level, node, file, source, tags, message, raw, context } = record
  const at = source ? `${source.file}${source.line ? `:${source.line}` : ''} ` : ''
  const labels = tags?.length ? `${tags.map((tag) => `[${tag}]`).join(' ')}: ` : ''
  const told = message ?? raw ?? ''
  const words = text(
    `${at}${labels}${told}${fieldsOf(context, told.slice(0, LONGEST_MESSAGE))}`,
    LONGEST_MESSAGE,
    secrets,
  )
  const place = [node, file].filter(Boolean).join('/')
  return markup`<tr><td>${text(time ?? '')}</td><td class="${text(classOf(level))}">${text(level ?? '')}</td><td>${text(place, LONGEST_VALUE)}</td><td>${words}</td></tr>`
}

/** The fields of a record as JSON, without those that were taken from its message. Stack traces are on lines below. */
function fieldsOf(context: unknown, message: string): string {
  if (typeof context !== 'object' || context === null) return context ? ` ${JSON.stringify(context)}` : ''
  const own = Array.isArray(context)
    ? context
    : Object.fromEntries(Object.entries(context).filter(([key, value]) => !tells(message, key, value)))
  let below = ''
  const json = JSON.stringify(own, (key, value) => {
    if (typeof value !== 'string' || !value.includes('\n')) return value
    below += `\n${key}: ${value}`
    return undefined
  })
  return (json.length > 2 ? ` ${json}` : '') + below
}

/** Whether a message has `key=value` or the like itself. */
function tells(message: string, key: string, value: unknown): boolean {
  if (typeof value === 'object') return false
  for (let at = message.indexOf(key); at !== -1; at = message.indexOf(key, at + 1)) {
    const from = at + key.length
    const sign = /^["']?\s?[=:]\s?["']?/.exec(message.slice(from, from + 5))?.[0]
    if (sign !== undefined && message.startsWith(String(value), from + sign.length)) return true
  }
  return false
}

function classOf(level: string | null | undefined): string {
  return ['fatal', 'error', 'warn', 'info', 'debug'].includes(level ?? '') ? level! : 'other'
}

const versionsOf = ({ changes }: IncidentNode): ConfigVersion[] => ('found' in changes ? changes.found : [])

async function changesSection(part: Incident['nodes'], { time }: Origin): Promise<Html> {
  if ('problem' in part) return problemText(part)
  const problems = part.found.flatMap(({ id, changes }) =>
    'problem' in changes
      ? [markup`<li>${text(`${id === null ? '' : `${id}: `}${changes.problem}`)}</li>`]
      : [],
  )
  const told = problems.length > 0 ? markup`<ul class="lacks">${problems.slice(0, 20)}</ul>` : markup``
  const rows = part.found.flatMap((node) =>
    versionsOf(node).flatMap((version) =>
      (version.error ? [{ key: `(cannot be compared: ${version.error})` }] : version.changes).map(
        ({ key, before, after }: { key: string; before?: string | undefined; after?: string | undefined }) =>
          () =>
            markup`<tr><td>${text(time(version.time))}</td><td>${text(node.id ?? '')}</td><td>${text(key, LONGEST_VALUE)}</td><td><del>${text(before ?? '', LONGEST_VALUE)}</del></td><td><ins>${text(after ?? '', LONGEST_VALUE)}</ins></td></tr>`,
      ),
    ),
  )
  if (rows.length === 0) return markup`${told}<p>None are known.</p>`
  const body = await tableRows(rows, BYTES.changes)
  return markup`${told}<table><tr><th>first seen</th><th>node</th><th>key</th><th>before</th><th>after</th></tr>${body}</table>`
}

async function settingsSection(part: Part<Comparison>): Promise<Html> {
  if ('problem' in part) return problemText(part)
  const rows = part.found.keys
    .filter(({ expected }) => !expected)
    .flatMap(({ key, values }) =>
      values.map(
        ({ value, nodes }) =>
          () =>
            markup`<tr><td>${text(key, LONGEST_VALUE)}</td><td>${text(value ?? '(not set)', LONGEST_VALUE)}</td><td>${text(nodes.join(', '), LONGEST_VALUE)}</td></tr>`,
      ),
    )
  if (rows.length === 0) return markup`<p>There are none, but for those that differ on purpose.</p>`
  const body = await tableRows(rows, BYTES.settings)
  return markup`<table><tr><th>key</th><th>value</th><th>nodes</th></tr>${body}</table>`
}

async function nodesSection(part: Incident['nodes'], { time }: Origin): Promise<Html> {
  if ('problem' in part) return problemText(part)
  const rows = part.found.map(({ id, node, state }) => () => {
    const { hostName = '', hostIp = '', version = '', onlineTime } = node ?? {}
    const online = onlineTime === undefined ? '' : time(onlineTime)
    const last = state?.lastLine ? time(state.lastLine) : ''
    return markup`<tr><td>${text(id ?? hostName)}</td><td>${text(`${hostName} ${hostIp}`)}</td><td>${text(version)}</td><td>${text(online)}</td><td>${text(last)}</td><td>${text(state?.error ?? '')}</td></tr>`
  })
  const body = await tableRows(rows, BYTES.nodes)
  return markup`<table><tr><th>node</th><th>host</th><th>version</th><th>online since</th><th>last record</th><th>problem</th></tr>${body}</table>`
}

/** As many rows as fit, made in turns, and how many others there are. */
async function tableRows(rows: readonly (() => Html)[], most: number): Promise<Html> {
  const made: Html[] = []
  let bytes = 0
  for (const make of rows) {
    if (isTurnOver()) await yieldToEventLoop()
    const row = make()
    bytes += new TextEncoder().encode(row).length
    if (bytes > most) break
    made.push(row)
  }
  const left = rows.length - made.length
  if (left > 0) made.push(markup`<tr><td colspan="6">${left} more are not in this file.</td></tr>`)
  return joined(made)
}
