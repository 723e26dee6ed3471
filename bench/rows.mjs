import { COMMON, RARE } from './data.mjs'
import { searchArchiveRow, tailArchiveRow } from './rows/archive.mjs'
import { KIB, MIB } from './rows/contenders.mjs'
import { fairnessRow, followRow, memoryRow } from './rows/crowd.mjs'
import { listAnewRow, listRow } from './rows/list.mjs'
import { openRow } from './rows/open.mjs'
import { bisectionRow, digRow, ndjsonRow, searchRow } from './rows/search.mjs'
import { accessLogRow, hugeRow, metricsRow, unchangedRow, viewRow } from './rows/view.mjs'

/**
 * The rows of the table. Each gives figures: `value` next to its `bar`, and whether more or less is better.
 * `bench` holds the data, the tools and the options of a run, and starts servers.
 */
export const ROWS = {
  'view-4k': (bench) => viewRow(bench, 4 * KIB, { nginx: 0.11, baseline: 0.9, bun: 0.35 }),
  'view-64k': (bench) => viewRow(bench, 64 * KIB, { nginx: 0.12, baseline: 0.95, bun: 0.32 }),
  'view-256k': (bench) => viewRow(bench, 256 * KIB, { nginx: 0.18, baseline: 1, bun: 0.34 }),
  'view-1m': (bench) => viewRow(bench, MIB, { nginx: 0.3, baseline: 1.25, bun: 0.25 }),
  'view-5m': (bench) => viewRow(bench, 5 * MIB, { nginx: 0.24, baseline: 0.95, bun: 0.28 }),
  fairness: fairnessRow,
  memory: memoryRow,
  unchanged: unchangedRow,
  'list-10': (bench) => listRow(bench, 'ten', 'list, 10 files', { nginx: 0.2, baseline: 1.5, bun: 0.5 }),
  'list-10k': (bench) =>
    listRow(bench, 'many', 'list, 10,000 files, asked again', { nginx: 10, baseline: 1, bun: 10 }),
  'list-10k-new': listAnewRow,
  'open-400': openRow,
  huge: hugeRow,
  'access-log': accessLogRow,
  metrics: metricsRow,
  follow: followRow,
  'search-rare': (bench) => searchRow(bench, RARE, 'rare hits', 1),
  'search-common': (bench) => searchRow(bench, COMMON, '10 % hits', 1),
  'search-gz': searchArchiveRow,
  'tail-gz': tailArchiveRow,
  dig: digRow,
  bisection: bisectionRow,
  ndjson: ndjsonRow,
}
