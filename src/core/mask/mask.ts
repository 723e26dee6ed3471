import type { Span } from './known.ts'

/** Replaces every secret: always the same, so that its length reveals nothing. */
export const MASK = '********'

export interface Edit extends Span {
  /** What is written there. @default the mask */
  readonly text?: string
}

/** Spans in order, without overlaps and empty ones. */
export function unite(spans: readonly Span[]): Span[] {
  const sorted = spans.filter(({ start, end }) => end > start).sort((a, b) => a.start - b.start)
  const united: { start: number; end: number }[] = []
  for (const { start, end } of sorted) {
    const last = united.at(-1)
    if (last !== undefined && start < last.end) last.end = Math.max(last.end, end)
    else united.push({ start, end })
  }
  return united
}

/** Writes edits, which are in order, into a text. */
export function apply(text: string, edits: readonly Edit[]): string {
  const parts: string[] = []
  let done = 0
  for (const { start, end, text: written = MASK } of edits) {
    parts.push(text.slice(done, start), written)
    done = end
  }
  parts.push(text.slice(done))
  return parts.join('')
}
