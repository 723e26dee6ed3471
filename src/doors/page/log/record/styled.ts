import { ansi } from './ansi.ts'
import type { Matcher } from './match.ts'

/** Text with ANSI colours and marked hits, as text nodes only. */
export function styled(source: string, marks: readonly Matcher[]): DocumentFragment {
  const out = document.createDocumentFragment()
  const { text: plain, spans } = ansi(source)
  const hits = hitsIn(plain, marks)
  // Cut at every boundary of a colour or a hit; each piece has one style.
  const bounds = [...spans, ...hits].flatMap(({ from, to }) => [from, to])
  const cuts = [...new Set([0, ...bounds, plain.length])].sort((a, b) => a - b)
  let [nextSpan, nextHit] = [0, 0]
  for (const [index, from] of cuts.slice(0, -1).entries()) {
    while (nextSpan < spans.length && spans[nextSpan]!.to <= from) nextSpan++
    while (nextHit < hits.length && hits[nextHit]!.to <= from) nextHit++
    const [span, hit] = [at(spans[nextSpan], from), at(hits[nextHit], from)]
    const piece = plain.slice(from, cuts[index + 1])
    if (hit !== null) out.append(element('mark', '', piece))
    else out.append(span === null ? piece : element('span', span.classes, piece))
  }
  return out
}

/** A stretch, if it has begun. */
function at<T extends { from: number }>(stretch: T | undefined, from: number): T | null {
  return stretch !== undefined && stretch.from <= from ? stretch : null
}

/** The stretches that are searched for in order, without overlaps. */
function hitsIn(plain: string, marks: readonly Matcher[]): { from: number; to: number }[] {
  const found: { from: number; to: number }[] = []
  for (const [from, to] of marks.flatMap((each) => each.ranges(plain)).sort(([a], [b]) => a - b))
    if (from >= (found.at(-1)?.to ?? 0)) found.push({ from, to })
  return found
}

/** An element with a class, or with attributes of which null is left out. Text becomes text nodes, never markup. */
export function element(
  tag: string,
  attributes: string | Record<string, string | number | null>,
  ...children: (Node | string)[]
): HTMLElement {
  const made = document.createElement(tag)
  const all = typeof attributes === 'string' ? { class: attributes || null } : attributes
  for (const [name, value] of Object.entries(all)) if (value !== null) made.setAttribute(name, String(value))
  made.append(...children)
  return made
}

export function clip(source: string, length: number): string {
  return source.length <= length ? source : `${source.slice(0, length)}…`
}
