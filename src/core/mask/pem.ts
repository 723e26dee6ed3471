import { PEM_BEGIN, PEM_END, type Span } from './known.ts'
import { type Comment, isNextLine } from './scan.ts'

/** A line inside a PEM block, without what stands before it: Base64, a header such as `Proc-Type: 4,ENCRYPTED`, or nothing. */
const PEM_LINE = /^(?:[A-Za-z\d+/=]*|[A-Za-z-]{1,32}: [^\n]{0,200})(?:\\n)?[\s"'`+,;\\]*$/
/** Marks of comments, lists and quotations, of any language. */
const MARKS = /^(?:(?!-----END )[^A-Za-z\d+/=\n]|\/[/*])*/
/** What no word is as long as: Base64, whatever stands before it. */
const LONG_BASE64 = /[A-Za-z\d+/=]{40}/
/** A key of 16,384 bits has 200 lines. */
const MOST_LINES = 400

/**
 * Private keys that are commented out, line by line.
 * Up to its end, everything belongs to a key. One without an end, or with blank lines inside, extends as far as its
 * lines look like Base64 behind marks or behind what stands before its first line.
 */
export function findPemInComments(toml: string, comments: readonly Comment[]): Span[] {
  const spans: Span[] = []
  if (!toml.includes('PRIVATE KEY')) return spans
  /** What stands before the key whose lines follow. */
  let open: string | null = null
  /** The comment that holds its end, if it is known. */
  let last = -1
  for (const [i, comment] of comments.entries()) {
    const text = toml.slice(comment.start, comment.end)
    let from = 0
    if (open !== null) {
      const end = endOfPem(text, 0)
      if (end === null && i >= last && !isPemLine(text, open)) open = null
      else {
        from = end ?? text.length
        spans.push({ start: comment.start + startOfLine(text, open), end: comment.start + from })
        if (end !== null) open = null
      }
    }
    for (let begin = PEM_BEGIN.exec(text.slice(from)); begin !== null && open === null; ) {
      const start = from + begin.index
      const end = endOfPem(text, start)
      spans.push({ start: comment.start + start, end: comment.start + (end ?? text.length) })
      if (end === null) {
        open = text.slice(0, start)
        last = lastLine(toml, comments, i)
      }
      from = end ?? text.length
      begin = PEM_BEGIN.exec(text.slice(from))
    }
  }
  return spans
}

/** The comment that holds the end of a key, if only lines of comments are between; -1 otherwise. */
function lastLine(toml: string, comments: readonly Comment[], first: number): number {
  for (let at = first + 1; at < comments.length && at - first < MOST_LINES; at++) {
    const { start, end } = comments[at]!
    if (!isNextLine(toml, comments[at - 1]!, comments[at]!)) return -1
    const text = toml.slice(start, end)
    const begin = text.search(PEM_BEGIN)
    const close = text.search(PEM_END)
    if (close !== -1 && (begin === -1 || close < begin)) return at
    if (begin !== -1) return -1
  }
  return -1
}

function isPemLine(text: string, before: string): boolean {
  return PEM_LINE.test(text.slice(startOfLine(text, before))) || LONG_BASE64.test(text)
}

/** Where a line of a key begins: behind what stands before its first line, and behind marks. */
function startOfLine(text: string, before: string): number {
  const from = text.startsWith(before) ? before.length : 0
  return from + MARKS.exec(text.slice(from))![0].length
}

function endOfPem(text: string, from: number): number | null {
  const match = PEM_END.exec(text.slice(from))
  return match === null ? null : from + match.index + match[0].length
}
