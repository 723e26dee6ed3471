import { elements } from './accept.ts'

/** Whether an `Accept-Encoding` allows gzip. RFC 9110, 12.5.3: gzip or `*`, unless refused with q=0. */
export function takesGzip(header: string | null): boolean {
  const codings = elements(header)
  const named = codings.find(({ name }) => name === 'gzip' || name === 'x-gzip')
  return (named ?? codings.findLast(({ name }) => name === '*'))?.refused === false
}
