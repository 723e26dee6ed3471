/** The notes of an answer, explained for the user. */
export const SENTENCES: Record<string, string> = {
  'scan-budget': 'The node stopped searching before it had seen all of the log; narrow the time range.',
  'answer-budget': 'The answer was too large to be given whole.',
  'time-order': 'The times in this log are not in order; records near the borders were checked individually.',
  'ambiguous-zone':
    "The zone abbreviation in this log is ambiguous; times are read in the node's --timezone.",
  'assumed-date': 'The times in this log have no date; the date comes from when the file was last written.',
  sampled: 'There are many records: counts are estimated from a part of them.',
  'groups-cut': 'There are more values than memory for them; the rest are counted together.',
  'no-config-scope': 'The token does not cover the configuration, which was not compared.',
  encoding: 'The log has bytes that are no UTF-8; say how it is written with encoding, such as latin1.',
  'unknown-field': 'The records do not have one of these fields.',
  'family-order':
    'The names and times of the rotated files contradict each other, so their order is a guess.',
  'archive-cut': 'An archive is damaged or ends early; the rest of it is missing.',
  'list-cut': 'There are more files than one answer has.',
  'detail-incomplete': 'Not all files have been examined yet; try again.',
  'size-partial': 'Some sizes do not count all objects of their log yet; try again.',
  copy: 'A node did not answer; what is shown of it is its copy in the bucket.',
  'unknown-parameter': 'The node does not know all parameters of the request and ignored some.',
  gap: 'Part of the log is missing.',
  'begins-late': 'The beginning of the log has expired.',
}
