import { ansi } from './ansi.ts'
import type { Matcher } from './match.ts'

/** A text to mark: what is searched for has no colour number, what is highlighted has one from 1. */
export interface Mark {
  matcher: Matcher
  colour: number
}

/** Text with ANSI colours and marked hits, as text nodes only. */
export function styled(source: string, marks: readonly Mark[]): DocumentFragment {
  const out = document.createDocumentFragment()
  const { text: plain, spans } = ansi(source)
  const hits = hitsIn(plain, marks)
  if (spans.length === 0 && hits.length === 0) {
    out.append(plain)
    return out
  }
  // Cut at every boundary of a colour or a hit; each piece has one style.
  const bounds = [
    ...spans.flatMap((span) => [span.from, span.to]),
    ...hits.flatMap((hit) => [hit.from, hit.to]),
  ]
  const cuts = [...new Set([0, ...bounds, plain.length])].sort((a, b) => a - b)
  let [nextSpan, nextHit] = [0, 0]
  for (const [index, from] of cuts.slice(0, -1).entries()) {
    while (nextSpan < spans.length && spans[nextSpan]!.to <= from) nextSpan++
    while (nextHit < hits.length && hits[nextHit]!.to <= from) nextHit++
    const [span, hit] = [at(spans[nextSpan], from), at(hits[nextHit], from)]
    const piece = plain.slice(from, cuts[index + 1])
    if (span === null && hit === null) {
      out.append(piece)
      continue
    }
    const colour = hit === null ? '' : hit.colour === 0 ? ' f' : ` h${hit.colour}`
    const part = element(hit === null ? 'span' : 'mark', `${span?.classes ?? ''}${colour}`.trim(), piece)
    if (hit === null) {
      if (span!.color !== null) part.style.color = span!.color
      for (const [, ground, number] of span!.classes.matchAll(/a-([fb])g(\d+)/g))
        part.style.setProperty(`--${ground}`, ANSI_HUES[Number(number) % 8]!)
    } else if (hit.colour > 0) part.style.setProperty('--h', hueOf(hit.colour))
    out.append(part)
  }
  return out
}

/** Red, green, yellow, blue, magenta and cyan between black and white, which have none. */
const ANSI_HUES = ['0', '3', '130', '42', '217', '305', '187', '0']

/** The hue of a highlighted text, by its number from 1. */
export function hueOf(colour: number): string {
  return HUES[(colour - 1) % HUES.length]!
}

const HUES = ['205', '120', '330', '260', '30', '178']

/** A stretch, if it has begun. */
function at<T extends { from: number }>(stretch: T | undefined, from: number): T | null {
  return stretch !== undefined && stretch.from <= from ? stretch : null
}

/** The marked stretches in order, without overlaps: what is searched for comes before what is highlighted. */
function hitsIn(plain: string, marks: readonly Mark[]): { from: number; to: number; colour: number }[] {
  const found: { from: number; to: number; colour: number }[] = []
  for (const { matcher, colour } of marks) {
    for (const [from, to] of matcher.ranges(plain)) {
      if (!found.some((other) => from < other.to && to > other.from)) found.push({ from, to, colour })
    }
  }
  return found.sort((a, b) => a.from - b.from)
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
