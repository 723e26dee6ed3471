import { useState } from 'preact/hooks'
import { ago, bytes, count } from '../ui/format.ts'
import { Icon } from '../ui/icons.tsx'
import { carry, type Look, toggled, writeLook } from '../url.ts'
import { type Entry, type Folder, grouped, type LogEntry } from './group.ts'
import type { ListedFile } from './order.ts'

interface Props {
  files: ListedFile[]
  look: Look
  now: number
  open: (name: string) => void
  /** The logs that are read, and how to read others together. */
  picked: readonly string[]
  pick: (names: string[]) => void
}

/** The logs, each with its rotated files, in folders where names have slashes. */
export function Files({ files, look, now, open, picked, pick }: Props) {
  const [filter, setFilter] = useState('')
  const [opened, setOpened] = useState<Record<string, boolean>>({})
  const needle = filter.toLowerCase()
  const fitting = files.filter((file) => file.name.toLowerCase().includes(needle))
  const entries = needle === '' ? grouped(files) : []
  const shared: Shared = {
    look,
    now,
    open,
    picked,
    pick,
    isOpen: (key, fallback) => opened[key] ?? fallback,
    toggle: (key, now) => setOpened({ ...opened, [key]: !now }),
  }
  if (files.length === 0)
    return (
      <p class="hint" role="status">
        No logs yet. A log appears here as soon as the node writes one, in the directory that nodestate reads.
      </p>
    )
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
      {needle === '' && entries.length > 1 && (
        <label class="check">
          <input
            type="checkbox"
            checked={look.file === '*'}
            onChange={() => pick(look.file === '*' ? [] : ['*'])}
          />
          All logs
        </label>
      )}
      <ul class="files">
        {needle === '' ? (
          <Entries entries={entries} shared={shared} />
        ) : (
          fitting.slice(0, MOST).map((file) => (
            <li key={file.name}>
              <FileLink file={file} label={file.name} shared={shared} />
            </li>
          ))
        )}
      </ul>
      {(needle === '' ? entries : fitting).length > MOST && (
        <p class="hint">
          {count((needle === '' ? entries : fitting).length - MOST)} more. Type part of a name to find them.
        </p>
      )}
      {fitting.length === 0 && <p class="hint">No log name matches.</p>}
    </>
  )
}

interface Shared extends Omit<Props, 'files'> {
  isOpen: (key: string, fallback: boolean) => boolean
  toggle: (key: string, now: boolean) => void
}

function Entries({ entries, shared }: { entries: Entry[]; shared: Shared }) {
  return (
    <>
      {entries
        .slice(0, MOST)
        .map((entry) =>
          entry.kind === 'folder' ? (
            <FolderItem key={`/${entry.path}`} folder={entry} shared={shared} />
          ) : (
            <LogItem key={entry.head.name} entry={entry} shared={shared} />
          ),
        )}
    </>
  )
}

function FolderItem({ folder, shared }: { folder: Folder; shared: Shared }) {
  const key = `/${folder.path}`
  const open = shared.isOpen(key, shared.look.file?.startsWith(`${folder.path}/`) ?? false)
  return (
    <li class="folder">
      <button type="button" aria-expanded={open} onClick={() => shared.toggle(key, open)}>
        <Icon name="folder" /> <span class="name">{folder.label}</span>
      </button>
      {open && (
        <ul>
          <Entries entries={folder.entries} shared={shared} />
        </ul>
      )}
    </li>
  )
}

function LogItem({ entry: { head, label, rotated }, shared }: { entry: LogEntry; shared: Shared }) {
  const { picked, pick } = shared
  const open = shared.isOpen(
    head.name,
    rotated.some((file) => file.name === shared.look.file),
  )
  return (
    <li class={rotated.length > 0 ? 'family' : ''}>
      <input
        type="checkbox"
        class="choose"
        aria-label={head.name}
        checked={picked.includes(head.name)}
        onChange={() => pick(toggled(picked, head.name))}
      />
      <FileLink file={head} label={label} shared={shared} />
      {rotated.length > 0 && (
        <button
          type="button"
          class="quiet small rotated"
          aria-expanded={open}
          aria-label={`${count(rotated.length)} rotated ${rotated.length === 1 ? 'file' : 'files'} of ${head.name}`}
          onClick={() => shared.toggle(head.name, open)}
        >
          {count(rotated.length)} rotated
        </button>
      )}
      {open && (
        <ul>
          {rotated.slice(0, MOST).map((file) => (
            <li key={file.name}>
              <FileLink file={file} label={file.name.slice(file.name.lastIndexOf('/') + 1)} shared={shared} />
            </li>
          ))}
        </ul>
      )}
    </li>
  )
}

function FileLink({ file, label, shared }: { file: ListedFile; label: string; shared: Shared }) {
  return (
    <a
      href={writeLook(carry(shared.look, file.name))}
      aria-current={file.name === shared.look.file ? 'page' : undefined}
      title={file.name}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
        event.preventDefault()
        shared.open(file.name)
      }}
    >
      <span class="name">{label}</span>
      <span class="size">{bytes(file.size)}</span>
      <span class="age">{file.modified === undefined ? '' : ago(Date.parse(file.modified), shared.now)}</span>
    </a>
  )
}

/** Ten thousand entries in the document cost a second and are too many to read. */
const MOST = 300
