import { PEM_BEGIN, PEM_END, type Span } from './known.ts'
import { type Comment, isNextLine } from './scan.ts'

/** A line inside a PEM block: Base64, a header such as `Proc-Type: 4,ENCRYPTED`, or nothing. */
const PEM_LINE = /^[#\s>|*]*(?:[A-Za-z\d+/=]*|[A-Za-z-]{1,32}: [^\n]{0,200})\s*$/

/**
 * Private keys that are commented out, line by line. Each becomes one mask, so that its number of lines reveals nothing.
 * A key without an end, or with blank lines inside, extends as far as its lines look like Base64.
 */
export function findPemInComments(toml: string, comments: readonly Comment[]): Span[] {
  const spans: { start: number; end: number }[] = []
  let open = false
  let last: Comment | null = null
  for (const comment of comments) {
    const text = toml.slice(comment.start, comment.end)
    let from = 0
    if (open) {
      const end = endOfPem(text, 0)
      open = end === null && PEM_LINE.test(text)
      if (end !== null || open) {
        const span = { start: comment.start + startOfText(text), end: comment.start + (end ?? text.length) }
        const joined = last !== null && isNextLine(toml, last, comment)
        if (joined) spans.at(-1)!.end = Math.max(span.end, span.start)
        else spans.push(span)
        from = end ?? text.length
      }
    }
    for (let begin = PEM_BEGIN.exec(text.slice(from)); begin !== null && !open; ) {
      const start = from + begin.index
      const end = endOfPem(text, start)
      spans.push({ start: comment.start + start, end: comment.start + (end ?? text.length) })
      open = end === null
      from = end ?? text.length
      begin = PEM_BEGIN.exec(text.slice(from))
    }
    last = comment
  }
  return spans
}

function endOfPem(text: string, from: number): number | null {
  const match = PEM_END.exec(text.slice(from))
  return match === null ? null : from + match.index + match[0].length
}

function startOfText(text: string): number {
  return /^[#\s>|*]*/.exec(text)![0].length
}
