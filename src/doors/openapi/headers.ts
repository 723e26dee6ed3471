/** Every header that an answer may have, with its meaning. */
export const HEADERS = {
  'Cache-Control': '`private, no-cache`; a follow adds `no-transform`, and metrics have `no-store`.',
  'X-Content-Type-Options': 'Always `nosniff`.',
  'X-Request-Id':
    'The id of the request: the one that it came with, the trace id of its `traceparent`, or a new one.',
  Vary: 'The request headers that the answer depends on.',
  ETag: 'Changes whenever the answer does. Absent where the answer depends on the clock or was cut by a budget.',
  'Content-Length': 'Length of the body in bytes, where it is known in advance.',
  Link: 'Relative references to the page before (`rel="prev"`) and to what comes after (`rel="next"`).',
  'X-Nodestate-Note':
    'What is special about the answer, as words separated by commas, such as `scan-budget` or `unknown-parameter`.',
  'X-Nodestate-Missing':
    'Of several logs: those that are not in the answer, each with the reason, such as `notes.txt;no-time`. Names are percent-encoded; after 3,000 characters of them, `+3` counts the others.',
  'X-Nodestate-Settled':
    'Of a fleet: up to this moment, every node has shipped all that the token may see; after it, records may still arrive.',
  'X-Accel-Buffering': '`no` on a follow and on an export, so that a proxy does not hold them back.',
  'Content-Disposition': 'Asks a browser to save the file under its name.',
  'Content-Security-Policy': 'Of an incident: it may run and load nothing, should a browser show it.',
  'Referrer-Policy': 'Of an incident: `no-referrer`.',
  'Accept-Ranges': 'Always `bytes`.',
  'Last-Modified': 'When the file was last written.',
  'X-Nodestate-File': 'An identity of the file that survives renaming, if the store has one.',
  'X-Nodestate-Zone': 'With `etag=true`: the zone of times in the logs that do not name one.',
  'Content-Range': 'The range that was sent, or the size of the file when the range is past its end.',
  'WWW-Authenticate': 'Which kind of token is needed.',
  Allow: 'The methods that every resource answers: `GET, HEAD`.',
  'Retry-After': 'Seconds after which to try again.',
} as const

export type HeaderName = keyof typeof HEADERS

/** The headers of every answer. */
export const COMMON: HeaderName[] = ['Cache-Control', 'X-Content-Type-Options', 'X-Request-Id', 'Vary']

/** The request headers that an operation reads, besides `Authorization` and `Accept`. */
export const REQUEST_HEADERS = {
  'If-None-Match': ['The tag of the answer that the client has; 304 while it is unchanged.', '"1-abc"'],
  'If-Match': ['The tag that the file must still have; otherwise 412.', '"1-abc"'],
  'If-Range': ['The range counts only while the file has this tag.', '"1-abc"'],
  Range: ['One range of bytes.', 'bytes=0-99'],
  'Last-Event-ID': [
    'The id of the last event; a follow continues after it.',
    'ZjBoMS80MDk2LzAvMC8wLy9icm9rZXIubG9n',
  ],
} as const satisfies Record<string, readonly [meaning: string, example: string]>
