import { useState } from 'preact/hooks'
import { apart, markOf, type Sources } from '../log/record/source.ts'
import { Button, Check, Search } from '../ui/controls.tsx'
import { ago, bytes, count, counted } from '../ui/format.ts'
import { carry, type Look, toggled, writeLook } from '../url.ts'
import { grouped, type LogEntry } from './group.ts'
import type { ListedFile } from './order.ts'

interface Props {
  files: ListedFile[]
  look: Look
  open: (name: string) => void
  /** The logs that are read, and how to read others together. */
  picked: readonly string[]
  pick: (names: string[]) => void
  /** Those that are read as one, each with a letter and a colour. */
  sources: Sources | null
}

/** The logs, each with its rotated files. */
export function Files({ files, ...shared }: Props) {
  const { look, pick } = shared
  const [filter, setFilter] = useState('')
  const needle = filter.toLowerCase()
  const fitting = files.filter((file) => file.name.toLowerCase().includes(needle))
  const entries = needle === '' ? grouped(files) : []
  if (files.length === 0)
    return (
      <p class="hint" role="status">
        No logs yet. A log appears here as soon as the node writes one, in the directory that nodestate reads.
      </p>
    )
  return (
    <>
      {files.length > 15 && (
        <Search
          class="narrow"
          label="Filter the logs by name"
          placeholder={`Filter ${count(files.length)} logs`}
          value={filter}
          set={setFilter}
        />
      )}
      {needle === '' && entries.length > 1 && (
        <Check on={look.file === '*'} toggle={() => pick(look.file === '*' ? [] : ['*'])}>
          All logs
        </Check>
      )}
      <ul class="files">
        {needle === ''
          ? entries
              .slice(0, MOST)
              .map((entry) => <LogItem key={entry.head.name} entry={entry} shared={shared} />)
          : fitting.slice(0, MOST).map((file) => (
              <li key={file.name}>
                <FileLink file={file} label={file.name} shared={shared} />
              </li>
            ))}
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

type Shared = Omit<Props, 'files'>

function LogItem({ entry: { head, rotated }, shared }: { entry: LogEntry; shared: Shared }) {
  const { picked, pick } = shared
  const [opened, setOpened] = useState<boolean | null>(null)
  const open = opened ?? rotated.some((file) => file.name === shared.look.file)
  return (
    <li>
      <input
        type="checkbox"
        class="choose"
        aria-label={head.name}
        checked={picked.includes(head.name)}
        onChange={() => pick(toggled(picked, head.name))}
      />
      {picked.includes(head.name) && <SourceMark sources={shared.sources} name={head.name} />}
      <FileLink file={head} label={head.name} shared={shared} />
      {rotated.length > 0 && (
        <Button
          class="quiet small rotated"
          aria-expanded={open}
          aria-label={`${counted(rotated.length, 'rotated file')} of ${head.name}`}
          onClick={() => setOpened(!open)}
        >
          {count(rotated.length)} rotated
        </Button>
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
      <span class="age">{file.modified === undefined ? '' : ago(Date.parse(file.modified))}</span>
    </a>
  )
}

/** Ten thousand entries in the document cost a second and are too many to read. */
const MOST = 300

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
