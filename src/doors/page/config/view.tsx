import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { MASK } from '../../../core/mask/mask.ts'
import { put } from '../ui/clipboard.ts'
import { Button } from '../ui/controls.tsx'
import { type Token, tomlLines } from './toml.ts'

export interface ConfigProps {
  text: string
  title?: string
  /** What is known about a setting, shown beside its line. */
  beside?: (key: string) => ComponentChildren
  say: (message: string) => void
  children?: ComponentChildren
}

/** The configuration as coloured TOML. */
export function ConfigView({ text, title = 'Configuration', say, beside, children }: ConfigProps) {
  const lines = useMemo(() => tomlLines(text), [text])
  return (
    <section class="config" aria-labelledby="config-title">
      <header class="bar">
        <h2 id="config-title">{title}</h2>
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
          {lines.map(({ key, tokens }, index) => (
            <div class="tl" key={index}>
              <span class="no" aria-hidden="true">
                {index + 1}
              </span>
              <code>
                {tokens.map((token, at) => (
                  <Coloured key={at} token={token} />
                ))}
              </code>
              {beside !== undefined && key !== null && <span class="beside">{beside(key)}</span>}
            </div>
          ))}
        </section>
      )}
    </section>
  )
}

function Coloured({ token: { kind, text } }: { token: Token }) {
  return (
    <span class={`k-${kind}`}>
      {text.split(MASK).map((piece, index) => [
        index > 0 && (
          <span class="masked" title="Masked by the node" key={index}>
            {MASK}
          </span>
        ),
        piece,
      ])}
    </span>
  )
}
