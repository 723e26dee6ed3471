import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { MASK } from '../../../mask/mask.ts'
import { put } from '../ui/clipboard.ts'
import { Button } from '../ui/controls.tsx'
import { literal } from '../ui/format.ts'
import { Icon } from '../ui/icons.tsx'
import { type Section, sections, type Token } from './toml.ts'

export interface ConfigProps {
  text: string
  title?: string
  /** What is known about a setting, shown beside its line. */
  beside?: (key: string) => ComponentChildren
  say: (message: string) => void
  children?: ComponentChildren
}

/** The configuration: coloured, foldable by table, searchable. */
export function ConfigView({ text, title = 'Configuration', say, beside, children }: ConfigProps) {
  const parts = useMemo(() => sections(text), [text])
  const [folded, setFolded] = useState<ReadonlySet<number>>(new Set())
  const [find, setFind] = useState('')
  const pattern = find === '' ? null : new RegExp(`(${literal(find)})`, 'iu')
  const hits = pattern === null ? 0 : (text.split(pattern).length - 1) / 2
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
          {pattern === null ? '' : hits === 0 ? 'Not found' : `${hits} found`}
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
              pattern={pattern}
              {...(beside && { beside })}
              folded={folded.has(index) && pattern === null}
              toggle={() => toggle(index)}
            />
          ))}
        </section>
      )}
    </section>
  )
}

interface PartProps extends Pick<ConfigProps, 'beside'> {
  part: Section
  pattern: RegExp | null
  folded: boolean
  toggle: () => void
}

function Part(props: PartProps) {
  const { part, pattern, folded, beside } = props
  const besideLine = ([first, second]: Token[]) => {
    const key = first?.kind === 'key' ? first : second?.kind === 'key' ? second : undefined
    const name = [part.name, key?.text].filter(Boolean).join('.')
    return key === undefined ? null : <span class="beside">{beside!(name)}</span>
  }
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
              <Coloured key={index} token={token} pattern={pattern} />
            ))}
            {folded && <span class="dim"> … {part.lines.length - 1} lines</span>}
          </code>
          {beside !== undefined && !folded && besideLine(line.tokens)}
        </div>
      ))}
    </div>
  )
}

function Coloured({ token, pattern }: { token: Token; pattern: RegExp | null }) {
  const pieces = token.text.split(MASK)
  return (
    <span class={`k-${token.kind}`}>
      {pieces.map((piece, index) => [
        index > 0 && (
          <span class="masked" title="Masked by the node" key={`mask${index}`}>
            {MASK}
          </span>
        ),
        ...marked(piece, pattern),
      ])}
    </span>
  )
}

/** What is found is at every other place of the split text. */
function marked(text: string, pattern: RegExp | null) {
  if (pattern === null) return [text]
  return text.split(pattern).map((piece, index) => (index % 2 ? <mark key={index}>{piece}</mark> : piece))
}
