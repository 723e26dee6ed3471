import { withoutEscapes } from './ansi.ts'
import type { Matcher } from './match.ts'

/** Text with its hits marked, as text nodes only. */
export function styled(source: string, marks: readonly Matcher[]): DocumentFragment {
  const out = document.createDocumentFragment()
  const text = withoutEscapes(source)
  let at = 0
  for (const { from, to } of hitsIn(text, marks)) {
    out.append(text.slice(at, from), element('mark', '', text.slice(from, to)))
    at = to
  }
  out.append(text.slice(at))
  return out
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
