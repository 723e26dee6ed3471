import { bad } from '../../core/http/params.ts'
import type { Query } from '../../core/query.ts'
import { TooManyBuckets } from '../../log/histogram/chart.ts'
import type { HistogramRequest } from '../../log/histogram/histogram.ts'
import { parseDuration } from '../../log/instant.ts'
import type { ViewRequest } from '../../log/view/request.ts'
import { unexpected } from './meaning.ts'
import { DEFAULT_BUCKETS } from './table.ts'
import { charsetOf } from './view-request.ts'

export function histogramRequest(query: Query, asked: ViewRequest): HistogramRequest {
  return {
    ...asked,
    charset: charsetOf(query),
    buckets: query.buckets ?? DEFAULT_BUCKETS,
    step: stepOf(query.step),
    origin: query.step === undefined ? undefined : query.origin,
  }
}

/** What a histogram throws, as a problem. */
export function explain(error: unknown): never {
  throw error instanceof TooManyBuckets ? bad('step', error.message) : error
}

/** `40s` or `40000`, in ms. */
function stepOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const step = /^\d{1,15}$/.test(text) ? Number(text) : parseDuration(text)
  if (step === null || step < 1 || !Number.isInteger(step)) throw unexpected('step', text)
  return step
}
