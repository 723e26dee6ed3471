import { apart, markOf, type Sources } from './source.ts'

/** The letter and the colour of a log or a node, as its records have them; nothing where they have none. */
export function SourceMark({ sources, name }: { sources: Sources | null; name: string }) {
  if (sources === null || !apart(sources).includes(name)) return null
  const { letter, colour } = markOf(sources, name)
  return (
    <span class="o" style={{ borderColor: colour }} aria-hidden="true">
      {letter}
    </span>
  )
}
