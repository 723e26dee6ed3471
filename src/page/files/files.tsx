import { useState } from 'preact/hooks'
import { ago, bytes, count } from '../ui/format.ts'
import { NOTHING, writeLook } from '../url.ts'
import type { ListedFile } from './order.ts'

interface Props {
  files: ListedFile[]
  chosen: string | null
  now: number
  open: (name: string) => void
}

/** The logs, in the order given. */
export function Files({ files, chosen, now, open }: Props) {
  const [filter, setFilter] = useState('')
  const needle = filter.toLowerCase()
  const fitting = files.filter((file) => file.name.toLowerCase().includes(needle))
  const shown = fitting.slice(0, MOST)
  return (
    <>
      {files.length > 15 && (
        <input
          type="search"
          class="narrow"
          placeholder={`Filter ${count(files.length)} logs`}
          aria-label="Filter the logs by name"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
      )}
      <ul class="files">
        {shown.map((file) => (
          <li key={file.name}>
            <a
              href={writeLook({ ...NOTHING, file: file.name })}
              aria-current={file.name === chosen ? 'page' : undefined}
              title={file.name}
              onClick={(event) => {
                if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
                event.preventDefault()
                open(file.name)
              }}
            >
              <span class="name">{file.name}</span>
              <span class="size">{bytes(file.size)}</span>
              <span class="age">
                {file.modified === undefined ? '' : ago(Date.parse(file.modified), now)}
              </span>
            </a>
          </li>
        ))}
      </ul>
      {fitting.length > MOST && (
        <p class="hint">{count(fitting.length - MOST)} more: type a part of the name to find them.</p>
      )}
      {fitting.length === 0 && files.length > 0 && <p class="hint">No log has this in its name.</p>}
    </>
  )
}

/** Ten thousand entries in the document cost a second; nobody reads them. */
const MOST = 300
