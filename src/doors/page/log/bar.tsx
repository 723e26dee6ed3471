import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { put } from '../ui/clipboard.ts'
import { Button, Check, Icon, type IconName } from '../ui/controls.tsx'
import { bytes } from '../ui/format.ts'
import { useDismiss } from '../ui/listener.ts'
import { HOME, isMerged, titleOf, toggled } from '../url.ts'
import { fieldsQueryOf, isNarrowed } from './find/query.ts'
import { compareQueryOf, questionAt } from './panel/question.ts'
import { columnsOf } from './record/rows.ts'
import { useSaving } from './save.ts'
import type { Log } from './use-log.ts'

/** The log's name, and what can be done with it as a whole. */
export function Bar({ log }: { log: Log }) {
  const { look, file, live, acts, preferences } = log
  const name = titleOf(look)
  return (
    <header class="bar">
      <a
        class="back"
        href={HOME}
        aria-label="All logs"
        onClick={(event) => {
          event.preventDefault()
          log.home()
        }}
      >
        <Icon name="back" />
      </a>
      <div class="names">
        <h1>{log.node}</h1>
        <h2 id="log-title" title={name}>
          {name}
        </h2>
      </div>
      {file !== null && !isMerged(look) && <span class="dim size">{bytes(file.size)}</span>}
      <span class="space" />
      <div class="tools">
        <Button
          class={`follow ${live}`}
          aria-pressed={live !== 'off'}
          title="Show new lines as they are written (f)"
          onClick={acts.toggleFollow}
        >
          <span class="dot" aria-hidden="true" />
          <Icon name="down" />
          <span class="word">
            {live === 'lost' ? 'Reconnecting' : live === 'off' ? 'Follow' : 'Following'}
          </span>
        </Button>
        <Button
          icon="fields"
          label="Fields"
          title="Show or hide fields and patterns (e)"
          aria-pressed={preferences.tab !== null}
          onClick={preferences.togglePanel}
        />
        <ExportMenu log={log} name={name} />
        <Drop icon="more" title="View and columns">
          <div class="scroll">
            <Check on={preferences.wrap} toggle={preferences.toggleWrap}>
              Wrap long lines
            </Check>
            <h3>Columns</h3>
            <div class="choices">
              <ColumnChoice log={log} />
            </div>
          </div>
        </Drop>
      </div>
    </header>
  )
}

/** What leaves the page: copies, files, and an incident to hand over. */
function ExportMenu({ log, name }: { log: Log; name: string }) {
  const { client, look, file, acts, say } = log
  const { saving, start } = useSaving(say)
  if (saving !== null)
    return (
      <Button title="Stop the download" onClick={saving.stop}>
        <progress max={saving.size ?? undefined} value={saving.size === null ? undefined : saving.done} />
        {bytes(saving.done)} <Icon name="close" />
      </Button>
    )
  const narrowed = isNarrowed(look)
  const records = narrowed ? 'Matching records' : 'All records'
  const save = (format: 'text' | 'ndjson' | 'csv') => () => {
    const stem = `${isMerged(look) ? 'timeline' : name}${narrowed ? '-filtered' : ''}`
    void start(`${stem}.${format === 'text' ? 'txt' : format}`, (signal) =>
      client.export({ ...fieldsQueryOf(look), ...(format === 'csv' && csvColumns(log)) }, format, { signal }),
    )
  }
  const incident = () =>
    void start('incident.html', (signal) =>
      client.incident(compareQueryOf(questionAt(look, log.clock)), { signal }),
    )
  return (
    <Drop icon="export" label="Export" title="Copy or save records">
      <h3>Copy what is selected, or all that is loaded</h3>
      <Button onClick={() => acts.copyText(true)}>Lines with all columns</Button>
      <Button onClick={() => acts.copyText(false)}>Messages only</Button>
      <Button onClick={() => void put(location.href, say, 'Link copied')}>Link to this view</Button>
      <h3>Save to a file</h3>
      <Button onClick={save('text')}>{records} as text</Button>
      <Button onClick={save('ndjson')}>{records} as JSON lines</Button>
      <Button onClick={save('csv')}>{records} as CSV, with these columns</Button>
      {!isMerged(look) && (
        <Button
          data-download
          onClick={() => void start(name, (signal) => client.download(name, { signal }), file?.size)}
        >
          Download the whole file{file !== null && ` (${bytes(file.size)})`}
        </Button>
      )}
      {look.since !== '' && <Button onClick={incident}>This range as an incident, in one HTML file</Button>}
    </Drop>
  )
}

/** The columns of the list as those of CSV. */
function csvColumns({ columns, fields, message, made, sources }: Log): { columns: string[] } {
  const own = columnsOf(sources).flatMap(({ name, member }) =>
    made?.columns.filled.has(name) && !columns.hidden.includes(name) ? [member] : [],
  )
  // A name with a comma would be two.
  const named = fields.filter((name) => !name.includes(','))
  return { columns: [...new Set([...own, ...named, ...(message ? ['message'] : [])])] }
}

/** The columns to choose from: the list's own, and the fields of the records. */
function ColumnChoice({ log: { columns, fields, acts, made, sources } }: { log: Log }) {
  const own = columnsOf(sources).filter(({ name }) => made?.columns.filled.has(name))
  return (
    <>
      {[...own, { name: 'c', title: 'Context' }].map(({ name, title }) => (
        <Check key={name} on={!columns.hidden.includes(name)} toggle={() => columns.toggle(name)}>
          {title}
        </Check>
      ))}
      {[...new Set([...fields, ...(made?.columns.offered ?? [])])].map((name) => (
        <Check
          key={`field ${name}`}
          on={fields.includes(name)}
          toggle={() => acts.showColumns(toggled(fields, name))}
        >
          <code>{name}</code>
        </Check>
      ))}
    </>
  )
}

interface Props {
  icon: IconName
  /** @default the title, for those who do not see the icon */
  label?: string
  title: string
  children: ComponentChildren
}

/** A button that opens a panel, which closes on Escape, on a click outside, and on a click on a button in it. */
function Drop({ icon, label, title, children }: Props) {
  const box = useRef<HTMLDetailsElement>(null)
  useDismiss(box, () => {
    box.current!.open = false
  })
  const close = () => {
    // What was chosen may have led elsewhere.
    if (box.current === null) return
    box.current.open = false
    box.current.querySelector('summary')!.focus()
  }
  return (
    <details
      ref={box}
      class="menu"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !box.current!.open) return
        event.stopPropagation()
        close()
      }}
    >
      <summary title={title}>
        <Icon name={icon} />{' '}
        {label === undefined ? <span class="hidden">{title}</span> : <span class="label">{label}</span>}
      </summary>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: a button's click is its Enter, too */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: it only hears the clicks of the buttons inside */}
      <div
        class="panel"
        onClick={(event) => {
          if ((event.target as HTMLElement).closest('button') !== null) close()
        }}
      >
        {children}
      </div>
    </details>
  )
}
