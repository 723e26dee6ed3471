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

/** The newest first, but those that were shown before stay in their order: nothing moves under the pointer. */
export function inOrder(files: ListedFile[], before: ListedFile[] | null): ListedFile[] {
  const ranks = new Map((before ?? []).map((file, rank) => [file.name, rank]))
  const rank = (file: ListedFile) => ranks.get(file.name) ?? -1
  return [...files].sort((a, b) =>
    rank(a) < 0 || rank(b) < 0 ? rank(a) - rank(b) || byAge(a, b) : rank(a) - rank(b),
  )
}

/** The same files with their present sizes; one that changed was written just now. */
export function grown(before: ListedFile[], plain: LogFile[]): ListedFile[] {
  const sizes = new Map(plain.map((file) => [file.name, file.size]))
  return before.map((file) => {
    const size = sizes.get(file.name) ?? file.size
    return size === file.size ? file : { ...file, size, modified: new Date().toISOString() }
  })
}

function byAge(a: ListedFile, b: ListedFile): number {
  const ages = [a, b].map((file) => (file.modified === undefined ? 0 : Date.parse(file.modified)))
  return ages[1]! - ages[0]! || (a.name < b.name ? -1 : 1)
}

/** Ten thousand entries in the document cost a second; nobody reads them. */
const MOST = 300
