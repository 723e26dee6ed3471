import type { LevelHistogram } from '../../kit/answers.ts'
import type { CountedGroups } from '../groups/count.ts'
import type { Range } from '../histogram/histogram.ts'
import type { LaneOptions, MergeLane } from './lane.ts'
import type { Source } from './source.ts'

/** Reads a log that is elsewhere: pages onwards or back, counts and groups. Null where it must be read here. */
export interface LogReader {
  /** Reads pages of it for a timeline. */
  lane(source: Source, asked: LaneElsewhere): MergeLane
  /** Counts the records that a query of `histogram` selects. */
  count(query: string, signal?: AbortSignal): Promise<(LevelHistogram & { notes: string[] }) | null>
  /** The range that a chart of it would have, null if it has none; undefined where it must be read here. */
  range(query: string, signal?: AbortSignal): Promise<Range | null | undefined>
  /** Groups the records that a query of `groups` selects. */
  group(query: string, signal?: AbortSignal): Promise<CountedGroups | null>
}

/** Which pages of a log are read elsewhere. */
export interface LaneElsewhere extends Pick<LaneOptions, 'forward' | 'place'> {
  /** The filters and times of the request, as a query. */
  filters: string
  /** Whether everything is read, page by page: then no budget ends it. */
  all: boolean
  /** Reads the log here, from a place on. */
  here(place: LaneOptions['place']): MergeLane
}

/** Which logs of a request are read elsewhere, and what is asked of them. */
export interface Elsewhere {
  readerOf(source: Source): LogReader | undefined
  filters: string
}
