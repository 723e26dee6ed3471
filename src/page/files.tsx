import { useState } from 'preact/hooks'
import type { LogFile, LogFileDetail } from '../client.ts'
import { ago, bytes, count } from './ui/format.ts'
import { NOTHING, writeLook } from './url.ts'

export type ListedFile = LogFile & Partial<LogFileDetail>

interface Props {
  files: ListedFile[]
  chosen: string | null
  now: number
  open: (name: string) => void
}

/** The logs, the one written last first. */
export function Files({ files, chosen, now, open }: Props) {
  const [filter, setFilter] = useState('')
  const needle = filter.toLowerCase()
  const fitting = files.filter((file) => file.name.toLowerCase().includes(needle)).sort(byAge)
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

function byAge(a: ListedFile, b: ListedFile): number {
  const ages = [a, b].map((file) => (file.modified === undefined ? 0 : Date.parse(file.modified)))
  return ages[1]! - ages[0]! || (a.name < b.name ? -1 : 1)
}

/** Ten thousand entries in the document cost a second; nobody reads them. */
const MOST = 300
