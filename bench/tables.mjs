// The tables of README.md and docs/, made of bench/results.json.
import { BARS, BUCKET_BARS, isBucketMet, isMet, SHIP_BARS } from './bars.mjs'

export const number = (value, digits = 0) => value.toLocaleString('en-US', { maximumFractionDigits: digits })
export const percent = (share) => `${number(share * 100, share < 0.1 ? 1 : 0)} %`
const ratio = (value) => (value >= 100 ? number(value) : value >= 10 ? number(value, 1) : number(value, 2))

/** A figure next to its bar, with more digits if rounding would make it look met. */
export function shown(value, bar) {
  const looksMet = isMet(value, bar) === false && ratio(value) === ratio(bar.least ?? bar.most)
  return looksMet ? number(value, 4) : ratio(value)
}

export const barText = (bar) => (bar ? (bar.least === undefined ? `≤ ${bar.most}` : `≥ ${bar.least}`) : '')
const missed = (met) => (met ? '' : ', **not met**')
const verdict = (met) => (met === null ? '' : met ? 'met' : '**not met**')

/** How calm the machine was: a reader can tell a noisy run. */
export function noiseText({ stolen, iowait, rounds, repeated, loud }) {
  const taken = `The host took ${percent(stolen)} of the CPU time, ${percent(iowait)} was spent waiting for disks`
  return `${taken}. Because of that, ${repeated} of ${rounds} rounds were repeated; ${loud} counted although they were not calm.`
}

/** The tables by the name that a document calls them. */
export const BLOCKS = {
  'how-fast': ({ service: { rows } }) => {
    const { figures: view, ratios: against } = rows['view-256k']
    const { figures: search, ratios: grep } = rows['search-common']
    const { figures: follow, ratios: crowd } = rows.follow
    return table(
      ['', ''],
      [
        [
          'The last 256 KiB of a log, 16 connections',
          `${number(view.nodestate.rps)} responses/s: ${ratio(against['Node / nginx'])} of nginx with sendfile, ${ratio(against['Node / node:http'])} times node:http`,
        ],
        [
          'A text in 1 GiB of log, found in every tenth line',
          `${ratio(search.nodestate.p50 / 1e6)} s: ${ratio(grep['Node / grep -F'])} times as fast as GNU \`grep -F\``,
        ],
        [
          '1,000 followers of a log that grows by 1,000 lines/s',
          `every line to everyone, p99 ${number(follow.nodestate.p99 / 1000)} ms, ${ratio(crowd.cores)} of a core`,
        ],
      ],
    )
  },
  'not-met': ({ service: { rows }, bucket, ship }) => {
    const lines = Object.entries(rows).flatMap(([id, row]) => {
      const missed = ratioLines(id, row).filter((cells) => cells.at(-1).includes('not met'))
      return [...new Set(missed.map((cells) => cells[3]))].map((bar) => {
        const figures = missed.filter((cells) => cells[3] === bar)
        return [row.title, figuresText(figures), bar]
      })
    })
    for (const row of bucket.rows)
      if (isBucketMet(row) === false)
        lines.push([
          `${row.request}, in a bucket, on ${row.on}`,
          bucketCell(row).replace(' **not met**', ''),
          '',
        ])
    if (ship.lagAtEnd >= SHIP_BARS.lagAtEnd)
      lines.push(['shipping: lag, s', number(ship.lagAtEnd, 1), `< ${SHIP_BARS.lagAtEnd}`])
    if (ship.rssMb > SHIP_BARS.rssMb) lines.push(['shipping: MB', number(ship.rssMb), `≤ ${SHIP_BARS.rssMb}`])
    return lines.length === 0 ? 'Every bar is met.' : table(['not met', 'measured', 'bar'], lines)
  },
  scale: ({ service: { rows }, bucket }) => {
    const far = bucket.rows.find(({ request, on }) => request === '`q` without a hit' && on === 'node')
    const rates = [
      ['A text in a file on a local disk', rows['search-rare'].figures.nodestate.mbs],
      ['A condition on a field, in a file', rows.dig.figures.where.mbs],
      ['A text in a gzipped file', rows['search-gz'].figures.nodestate.mbs],
      [`A text in a bucket ${bucket.delay} ms away, ${bucket.rate} MB/s per connection`, far.mbs],
    ]
    return table(
      ['', 'MB/s of text', '1 TB takes'],
      rates.map(([what, mbs]) => [what, number(mbs), `${number(1e6 / mbs / 60)} minutes`]),
    )
  },
  run: ({ service }) =>
    table(
      ['', ''],
      [
        ['machine', service.machine],
        ['nginx', `${service.nginx}, 1 worker, sendfile, \`tcp_nopush off\``],
        ['node:http', '`bench/baseline.mjs`: the same answers with fs promises'],
        ['grep', service.grep],
        ['noise', noiseText(service.noise)],
        ['date', [service.date, ...again(service)].join('; ')],
      ],
    ),
  bars: ({ service: { rows } }) =>
    table(
      ['what', 'figure', 'measured', 'bar', ''],
      Object.entries(rows).flatMap(([id, row]) => ratioLines(id, row)),
    ),
  bucket: ({ bucket }) => {
    const { rows, date, delay, rate, size } = bucket
    const runtimes = [...new Set(rows.map(({ on }) => on))]
    const requests = [...new Set(rows.map(({ request }) => request))]
    const lines = requests.map((request) => {
      const bar = BUCKET_BARS[request]
      const cells = runtimes.map((on) =>
        bucketCell(rows.find((row) => row.request === request && row.on === on)),
      )
      return [request, bar?.trips ? `≤ ${bar.trips} round trips` : '', ...cells]
    })
    return `Measured on ${date}: ${delay} ms away, ${rate} MB/s per connection, a log of ${size} MiB.\n\n${table(['request', 'bar', ...runtimes], lines)}`
  },
  memory: ({ service: { rows } }) => {
    const mb = (id) => number(rows[id].figures.nodestate.rss / 1e6)
    return `# Resident memory in the bench: ${mb('view-256k')} MB serving tails, ${mb('search-common')} MB searching, ${mb('follow')} MB with 1,000 followers.`
  },
  ship: ({ ship }) =>
    table(
      ['', ship.bucket],
      [
        ['written', `${number(ship.writtenMb)} MB at ${number(ship.mbs, 1)} MB/s`],
        [
          'lag at the end',
          `${number(ship.lagAtEnd, 1)} s (bar: below ${SHIP_BARS.lagAtEnd} s)${missed(ship.lagAtEnd < SHIP_BARS.lagAtEnd)}`,
        ],
        ['greatest lag', `${number(ship.greatestLag, 1)} s`],
        ['everything shipped, and stopped', `${number(ship.stoppedAfter, 1)} s after the last byte`],
        [
          'greatest RSS',
          `${number(ship.rssMb)} MB (bar: at most ${SHIP_BARS.rssMb} MB)${missed(ship.rssMb <= SHIP_BARS.rssMb)}`,
        ],
        ['CPU', `${number(ship.cpuSeconds, 1)} s, ${percent(ship.core)} of a core`],
        ['in the bucket', `${number(ship.segments)} segments, ${number(ship.storedMb)} MB`],
        ['the text', ship.isSame ? 'is the same' : '**differs**'],
      ],
    ),
}

/** The rows that were measured again, alone, after the complete run. */
function again({ rows }) {
  return Object.values(rows)
    .filter(({ date }) => date)
    .map(({ title, date }) => `${title}: ${date}`)
}

/** The worst figures that missed a bar, as many as a cell can show; docs/performance.md has all of them. */
function figuresText(figures) {
  const excess = ([, , measured, bar]) => Number(measured.replaceAll(',', '')) * (bar[0] === '≤' ? 1 : -1)
  const worst = figures.toSorted((a, b) => excess(b) - excess(a)).slice(0, CELL_FIGURES)
  const texts = worst.map(([, name, measured]) => `${name} ${measured}`)
  const others = figures.length - texts.length
  return texts.join(', ') + (others > 0 ? ` and ${others} more` : '')
}

const CELL_FIGURES = 4

function ratioLines(id, { title, ratios, failed }) {
  if (failed) return [[title, '', `failed: ${failed}`, '', '**not met**']]
  return Object.entries(ratios).map(([name, value], i) => {
    const bar = BARS[id]?.[name]
    return [i === 0 ? title : '', name, shown(value, bar), barText(bar), verdict(isMet(value, bar))]
  })
}

/** Round trips where they have a bar, MB/s where all of the log is read. */
function bucketCell(row) {
  if (!row) return ''
  const wanted = BUCKET_BARS[row.request]?.mbs?.[row.on]
  const missed = isBucketMet(row) === false ? ' **not met**' : ''
  if (row.most?.trips) return `${row.trips} (≤ ${row.most.trips}), ${row.ms} ms${missed}`
  if (row.most) return `${number(row.kib)} KiB (≤ ${number(row.most.kib)})${missed}`
  if (BUCKET_BARS[row.request]?.trips) return `${row.trips}, ${row.ms} ms${missed}`
  return `${row.mbs} MB/s${wanted ? ` (≥ ${wanted})` : ''}${missed}`
}

function table(head, lines) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...lines.map(line)].join('\n')
}
