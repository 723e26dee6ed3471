/** A request that a bucket answered: when it began and ended, in ms; null while it runs. */
export interface Asked {
  url: string
  range: string | null
  from: number
  to: number | null
  bytes: number
}
export function longestChain(requests: readonly Asked[]): number
