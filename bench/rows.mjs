import { COMMON, RARE } from './data.mjs'
import { periodArchiveRow, searchArchiveRow, tailArchiveRow } from './rows/archive.mjs'
import { KIB, MIB } from './rows/contenders.mjs'
import { fairnessRow, followMergedRow, followRow, memoryRow } from './rows/crowd.mjs'
import { formatChartRow, formatLevelRow, formatRecordsRow } from './rows/formats.mjs'
import { listAnewRow, listRow } from './rows/list.mjs'
import { openRow } from './rows/open.mjs'
import { peerIdleRow, peerPageRow, peerSearchRow } from './rows/peers.mjs'
import { bisectionRow, digRow, ndjsonRow, searchRow, wordsRow } from './rows/search.mjs'
import { shapeChartRow, shapeLevelRow, shapeRecordsRow, shapeTextRow } from './rows/shapes.mjs'
import { timelineMemoryRow, timelineRow } from './rows/timeline.mjs'
import { accessLogRow, hugeRow, metricsRow, unchangedRow, viewRow } from './rows/view.mjs'

/**
 * The rows of the table. Each gives figures of every server, and ratios: a name and a value. bars.mjs has their bars.
 * `bench` holds the data, the tools and the options of a run, and starts servers.
 */
export const ROWS = {
  'view-4k': (bench) => viewRow(bench, 4 * KIB),
  'view-64k': (bench) => viewRow(bench, 64 * KIB),
  'view-256k': (bench) => viewRow(bench, 256 * KIB),
  'view-1m': (bench) => viewRow(bench, MIB),
  'view-5m': (bench) => viewRow(bench, 5 * MIB),
  fairness: fairnessRow,
  memory: memoryRow,
  unchanged: unchangedRow,
  'list-10': (bench) => listRow(bench, 'ten', 'list, 10 files'),
  'list-10k': (bench) => listRow(bench, 'many', 'list, 10,000 files, asked again'),
  'list-10k-new': listAnewRow,
  'open-400': openRow,
  huge: hugeRow,
  'access-log': accessLogRow,
  metrics: metricsRow,
  follow: followRow,
  'follow-merged': followMergedRow,
  'search-rare': (bench) => searchRow(bench, RARE, 'rare hits'),
  'search-common': (bench) => searchRow(bench, COMMON, '10 % hits'),
  'search-words': wordsRow,
  'search-gz': searchArchiveRow,
  'tail-gz': tailArchiveRow,
  'period-gz': periodArchiveRow,
  dig: digRow,
  'formats-level': formatLevelRow,
  'formats-chart': formatChartRow,
  'formats-ndjson': formatRecordsRow,
  'shapes-level': shapeLevelRow,
  'shapes-chart': shapeChartRow,
  'shapes-ndjson': shapeRecordsRow,
  'shapes-text': shapeTextRow,
  bisection: bisectionRow,
  ndjson: ndjsonRow,
  'timeline-ndjson': timelineRow,
  'timeline-memory': timelineMemoryRow,
  'peer-search': peerSearchRow,
  'peer-page': peerPageRow,
  'peer-idle': peerIdleRow,
}
