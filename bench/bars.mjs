const least = (value) => ({ least: value })
const most = (value) => ({ most: value })
const rates = (nginx, baseline, bun) => ({
  'Node / nginx': least(nginx),
  'Node / node:http': least(baseline),
  'Bun / nginx': least(bun),
})

/** The formats whose logs are measured (format-logs.mjs). */
const FORMATS = 'lindb postgresql mysql json log4j logfmt syslog access cri docker'.split(' ')

/** The formats whose logs are measured in several shapes (shape-logs.mjs); a figure is that of the worst shape. */
const SHAPED = 'rfc5424 syslog logfmt json log4j postgresql mysql access cri docker glog'.split(' ')
const eachShaped = (bar) => Object.fromEntries(SHAPED.map((name) => [`${name}, worst / lindb`, bar]))

/** The bars of `npm run bench`, by row and figure. docs/performance.md shows them next to what was measured. */
export const BARS = {
  'view-4k': rates(0.11, 1.2, 0.35),
  'view-64k': rates(0.12, 1.2, 0.32),
  'view-256k': rates(0.18, 1.2, 0.34),
  'view-1m': rates(0.3, 1.25, 0.25),
  'view-5m': rates(0.24, 0.95, 0.28),
  fairness: { 'p99 Node / nginx': most(9), 'p99 Node / node:http': most(1), 'p99 Bun / nginx': most(4) },
  memory: { 'Node, MB': most(90), 'Bun, MB': most(80) },
  unchanged: rates(0.07, 1.2, 0.4),
  'list-10': rates(0.2, 1.5, 0.5),
  'list-10k': rates(10, 1, 10),
  'list-10k-new': rates(0.45, 1, 0.5),
  'open-400': { 'files/s': least(1050) },
  huge: { Node: least(0.95), Bun: least(0.95) },
  follow: { 'p99, ms': most(1000), 'lines missing': most(0), cores: most(1) },
  'follow-merged': { 'p99, ms': most(1000), 'headers, ms': most(1000), 'lines missing or twice': most(0) },
  'search-rare': { 'Node / grep -F': least(1), 'Bun / grep -F': least(1) },
  'search-common': { 'Node / grep -F': least(1), 'Bun / grep -F': least(1) },
  'search-words': { 'Node / rg': least(1) },
  'search-gz': { 'Node / zgrep': least(2) },
  'tail-gz': { 'Node / zcat and tail': least(1.5) },
  'period-gz': { 'asked again, s': most(0.16) },
  dig: { 'not / q': least(0.5), 'where / q': least(0.1), 'fields / q': least(0.1) },
  'formats-level': {
    ...Object.fromEntries(FORMATS.map((name) => [`${name} level / q`, least(0.5)])),
    ...Object.fromEntries(FORMATS.slice(1).map((name) => [`${name} level / lindb`, least(0.5)])),
    ...Object.fromEntries(['cri', 'docker'].map((name) => [`${name} q / log4j`, least(0.5)])),
  },
  'formats-chart': {
    'lindb chart / q': least(0.3),
    ...Object.fromEntries(FORMATS.map((name) => [`${name} / lindb`, least(0.4)])),
    ...Object.fromEntries(
      ['postgresql', 'log4j', 'syslog', 'access'].map((name) => [`${name} / lnav`, least(5)]),
    ),
  },
  'formats-ndjson': Object.fromEntries(FORMATS.map((name) => [`${name} / lindb`, least(0.5)])),
  'shapes-level': eachShaped(least(0.3)),
  'shapes-chart': eachShaped(least(0.25)),
  'shapes-ndjson': { ...eachShaped(least(0.2)), 'slowest, MB/s': least(20) },
  'shapes-text': { 'cri, worst / plain': least(0.35), 'docker, worst / plain': least(0.35) },
  // Most of the reads look for a clock that stepped back within 8 MiB of the border.
  bisection: { 'reads in 1 GiB': most(64), 'reads in 20 GiB': most(64) },
  ndjson: { 'million lines/s': least(0.8) },
  'timeline-ndjson': { '32 files / one': least(0.7) },
  'timeline-memory': { 'MiB beyond the answer': most(16) },
  'peer-search': {
    'peer / node': least(0.8),
    'below /nodes/ / node': least(0.8),
    'peer / node, by CPU': least(0.8),
  },
  'peer-page': { 'page / slowest peer': most(1.5) },
  'peer-idle': { '% of a core': most(1), MiB: most(20) },
}

/** The bars of `npm run bench:bucket`, by request: round trips at most, or MB/s at least on each runtime. */
export const BUCKET_BARS = {
  'tail of 256 KiB': { trips: 1 },
  '`lines=100`': { trips: 1 },
  '10 s of the log': { trips: 6 },
  'the same again': { trips: 3 },
  '10 s, `level=error`': { trips: 7 },
  '`level=error&lines=100`': { trips: 5 },
  '`q` without a hit': { mbs: { node: 400, bun: 600, deno: 600, workerd: 400 } },
  '`q` without a hit, TLS': { mbs: { node: 300 } },
  '`list?detail=true`, 206 files': { trips: 12 },
}

/**
 * What a page of several logs may take: round trips by those of one log, KiB by its answer and its logs, and by what a
 * reader takes that knows the time of its oldest record.
 */
export const TIMELINE_BARS = {
  'newest page of as many logs as are read at once': ({ one }) => ({ trips: one.trips + 1 }),
  'newest page of 32 logs': ({ one }) => ({ trips: 3 * one.trips + 1 }),
  'newest page of 32 logs, bytes': ({ answer, logs }) => ({ kib: (3 * answer) / 1024 + 16 * logs }),
  '`level=error&lines=100` of 32 logs, bytes': ({ known }) => ({ kib: (1.5 * known) / 1024 }),
}

/** The bars of `npm run bench:ship`: seconds until the last byte is in the bucket, and memory. */
export const SHIP_BARS = { lagAtEnd: 15, rssMb: 200 }

/** Whether a value keeps its bar; null where there is none. */
export function isMet(value, bar) {
  if (!bar) return null
  return bar.least === undefined ? value <= bar.most : value >= bar.least
}

/** Whether a request to a bucket keeps its bar; null where there is none. */
export function isBucketMet({ request, on, trips, mbs, kib, most }) {
  if (most) return most.trips === undefined ? kib <= most.kib : trips <= most.trips
  const bar = BUCKET_BARS[request]
  if (bar?.trips !== undefined) return trips <= bar.trips
  return bar?.mbs[on] === undefined ? null : mbs >= bar.mbs[on]
}
