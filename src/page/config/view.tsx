import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { MASK } from '../../mask/mask.ts'
import { put } from '../ui/clipboard.ts'
import { Button } from '../ui/controls.tsx'
import { Icon } from '../ui/icons.tsx'
import { type Section, sections, type Token } from './toml.ts'

interface Props {
  text: string
  title?: string
  say: (message: string) => void
  children?: ComponentChildren
}

/** The configuration: coloured, foldable by table, searchable. */
export function ConfigView({ text, title = 'Configuration', say, children }: Props) {
  const parts = useMemo(() => sections(text), [text])
  const [folded, setFolded] = useState<ReadonlySet<number>>(new Set())
  const [find, setFind] = useState('')
  const needle = find.toLowerCase()
  const hits = needle === '' ? 0 : countHits(text, needle)
  const named = parts.flatMap((part, index) => (part.name === null ? [] : [index]))
  const toggle = (index: number) => {
    const next = new Set(folded)
    if (!next.delete(index)) next.add(index)
    setFolded(next)
  }
  return (
    <section class="config" aria-labelledby="config-title">
      <header class="bar">
        <h2 id="config-title">{title}</h2>
        <label class="find">
          <Icon name="search" />
          <input
            type="search"
            data-find
            placeholder="Find in the configuration"
            aria-label="Find in the configuration"
            value={find}
            onInput={(event) => setFind(event.currentTarget.value)}
          />
        </label>
        <span class="hits" role="status">
          {needle === '' ? '' : hits === 0 ? 'Not found' : `${hits} found`}
        </span>
        {named.length > 1 && (
          <Button class="small" onClick={() => setFolded(folded.size === 0 ? new Set(named) : new Set())}>
            {folded.size === 0 ? 'Fold all' : 'Unfold all'}
          </Button>
        )}
        <Button icon="copy" class="small" onClick={() => put(text, say, 'Configuration copied')}>
          Copy
        </Button>
        {children}
      </header>
      {text.trim() === '' ? (
        <p class="empty">The configuration is empty: the node runs on its defaults.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls sideways must be reachable by key
        <section id="configuration" class="toml" tabIndex={0} aria-label="Configuration as TOML">
          {parts.map((part, index) => (
            <Part
              key={index}
              part={part}
              needle={needle}
              folded={folded.has(index) && needle === ''}
              toggle={() => toggle(index)}
            />
          ))}
        </section>
      )}
    </section>
  )
}

function Part(props: { part: Section; needle: string; folded: boolean; toggle: () => void }) {
  const { part, needle, folded } = props
  const header = part.lines.findIndex((line) => line.tokens[0]?.kind === 'table')
  const shown = folded ? part.lines.filter((_, index) => index === header) : part.lines
  return (
    <div class={folded ? 'part folded' : 'part'}>
      {shown.map((line) => (
        <div class="tl" key={line.number}>
          <span class="no" aria-hidden="true">
            {line.number}
          </span>
          {line === part.lines[header] && part.name !== null && (
            <Button
              class="fold"
              aria-expanded={!folded}
              aria-label={`Table ${part.name}`}
              onClick={props.toggle}
            />
          )}
          <code>
            {line.tokens.map((token, index) => (
              <Coloured key={index} token={token} needle={needle} />
            ))}
            {folded && <span class="dim"> … {part.lines.length - 1} lines</span>}
          </code>
        </div>
      ))}
    </div>
  )
}

function Coloured({ token, needle }: { token: Token; needle: string }) {
  const pieces = token.text.split(MASK)
  return (
    <span class={`k-${token.kind}`}>
      {pieces.map((piece, index) => [
        index > 0 && (
          <span class="masked" title="Masked by the node" key={`mask${index}`}>
            {MASK}
          </span>
        ),
        ...marked(piece, needle),
      ])}
    </span>
  )
}

function marked(text: string, needle: string) {
  if (needle === '') return [text]
  const out = []
  const lower = text.toLowerCase()
  let last = 0
  for (let at = lower.indexOf(needle); at >= 0; at = lower.indexOf(needle, last)) {
    out.push(text.slice(last, at), <mark key={at}>{text.slice(at, at + needle.length)}</mark>)
    last = at + needle.length
  }
  out.push(text.slice(last))
  return out
}

function countHits(text: string, needle: string): number {
  return text.toLowerCase().split(needle).length - 1
}
