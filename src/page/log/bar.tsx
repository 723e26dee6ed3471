import { useState } from 'preact/hooks'
import type { Client } from '../../client.ts'
import type { ListedFile } from '../files/order.ts'
import { put } from '../ui/clipboard.ts'
import { bytes } from '../ui/format.ts'
import { Icon } from '../ui/icons.tsx'
import { HOME } from '../url.ts'
import type { Live } from './reader/window.ts'
import { save } from './save.ts'

interface Props {
  client: Client
  name: string
  file: ListedFile | null
  live: Live
  wrap: boolean
  home: () => void
  toggleFollow: () => void
  toggleWrap: () => void
  /** The selected records, or all that are loaded, with all columns or only their messages. */
  copyText: (columns: boolean) => void
  say: (message: string) => void
}

/** The log's name, and what can be done with it as a whole. */
export function Bar(props: Props) {
  const { client, name, file, live, wrap, toggleFollow, toggleWrap, copyText, say } = props
  const [saving, setSaving] = useState<{ done: number; size: number | null; stop: () => void } | null>(null)
  const download = async () => {
    if (saving !== null) return
    const abort = new AbortController()
    const stop = () => abort.abort()
    setSaving({ done: 0, size: file?.size ?? null, stop })
    try {
      await save(client, name, abort.signal, (done, size) => setSaving({ done, size, stop }))
      say('Download complete')
    } catch (error) {
      if (!abort.signal.aborted) say(`The download failed: ${(error as Error).message}`)
    } finally {
      setSaving(null)
    }
  }

  return (
    <header class="bar">
      <a
        class="back"
        href={HOME}
        aria-label="All logs"
        onClick={(event) => {
          event.preventDefault()
          props.home()
        }}
      >
        <Icon name="back" />
      </a>
      <h2 id="log-title" title={name}>
        {name}
      </h2>
      {file !== null && <span class="dim size">{bytes(file.size)}</span>}
      <span class="space" />
      <button
        type="button"
        class={`follow ${live}`}
        aria-pressed={live !== 'off'}
        title="Follow what is appended (f)"
        onClick={toggleFollow}
      >
        <span class="dot" aria-hidden="true" />
        {live === 'lost' ? 'Reconnecting' : live === 'off' ? 'Follow' : 'Following'}
      </button>
      <button type="button" aria-pressed={wrap} title="Wrap long lines (w)" onClick={toggleWrap}>
        <Icon name="wrap" /> <span class="label">Wrap</span>
      </button>
      <details class="menu">
        <summary title="Copy the selected records, or all that are loaded (c)">
          <Icon name="copy" /> <span class="label">Copy</span>
        </summary>
        <div class="panel">
          <button type="button" onClick={(event) => closeMenu(event, () => copyText(true))}>
            Lines with all columns
          </button>
          <button type="button" onClick={(event) => closeMenu(event, () => copyText(false))}>
            Messages only
          </button>
          <button
            type="button"
            onClick={(event) => closeMenu(event, () => put(location.href, say, 'Link copied'))}
          >
            Link to this view
          </button>
        </div>
      </details>
      {saving === null ? (
        <button type="button" title="Download the whole file" onClick={download}>
          <Icon name="save" /> <span class="label">Download</span>
        </button>
      ) : (
        <button type="button" title="Stop the download" onClick={saving.stop}>
          <progress max={saving.size ?? undefined} value={saving.size === null ? undefined : saving.done} />
          {bytes(saving.done)} <Icon name="close" />
        </button>
      )}
    </header>
  )
}

function closeMenu(event: MouseEvent, act: () => void): void {
  const menu = (event.currentTarget as HTMLElement).closest('details')
  if (menu !== null) menu.open = false
  act()
}
