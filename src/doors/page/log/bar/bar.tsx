import { put } from '../../ui/clipboard.ts'
import { Button } from '../../ui/controls.tsx'
import { Drop } from '../../ui/drop.tsx'
import { bytes } from '../../ui/format.ts'
import { Icon } from '../../ui/icons.tsx'
import { useToolbar } from '../../ui/toolbar.ts'
import { HOME, isMerged, titleOf } from '../../url.ts'
import { fieldsQueryOf, isNarrowed } from '../find/query.ts'
import { compareQueryOf, questionAt } from '../panel/question.ts'
import type { Log } from '../use-log.ts'
import { ColumnsMenu, csvColumns } from './columns.tsx'
import { useSaving } from './save.ts'
import { SavedMenu } from './saved.tsx'

/** The log's name, and what can be done with it as a whole. */
export function Bar({ log }: { log: Log }) {
  const { client, look, file, live, acts, preferences, say } = log
  const name = titleOf(look)
  const tools = useToolbar()
  const { saving, start } = useSaving(say)
  const narrowed = isNarrowed(look)
  const records = narrowed ? 'Matching records' : 'All records'
  const exported = (format: 'text' | 'ndjson' | 'csv') => {
    const stem = `${isMerged(look) ? 'timeline' : name}${narrowed ? '-filtered' : ''}`
    void start(`${stem}.${format === 'text' ? 'txt' : format}`, (signal) =>
      client.export({ ...fieldsQueryOf(look), ...(format === 'csv' && csvColumns(log)) }, format, { signal }),
    )
  }
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
      <div ref={tools} class="tools" role="toolbar" aria-label="Log">
        <Button
          class={`follow ${live}`}
          aria-pressed={live !== 'off'}
          title="Show new lines as they are written (f)"
          onClick={acts.toggleFollow}
        >
          <span class="dot" aria-hidden="true" />
          {live === 'lost' ? 'Reconnecting' : live === 'off' ? 'Follow' : 'Following'}
        </Button>
        <Button
          class="unfold"
          icon="filter"
          label="Filters"
          title="Show or hide the filters"
          aria-expanded={log.unfolded}
          onClick={() => log.setUnfolded(!log.unfolded)}
        />
        <Button
          icon="fields"
          label="Fields"
          title="Show or hide fields and patterns (e)"
          aria-pressed={preferences.tab !== null}
          onClick={preferences.togglePanel}
        />
        <Button
          class="bare"
          icon="wrap"
          label="Wrap"
          title="Wrap long lines (w)"
          aria-pressed={preferences.wrap}
          onClick={preferences.toggleWrap}
        />
        <ColumnsMenu log={log} />
        <SavedMenu log={log} />
        <Drop icon="copy" label="Copy" title="Copy the selected records, or all that are loaded (c)">
          <Button onClick={() => acts.copyText(true)}>Lines with all columns</Button>
          <Button onClick={() => acts.copyText(false)}>Messages only</Button>
          <Button onClick={() => void put(location.href, say, 'Link copied')}>Link to this view</Button>
        </Drop>
        <Drop icon="export" label="Export" title="Save every record that matches the filters, loaded or not">
          <Button onClick={() => exported('text')}>{records} as text</Button>
          <Button onClick={() => exported('ndjson')}>{records} as JSON lines</Button>
          <Button onClick={() => exported('csv')}>{records} as CSV, with these columns</Button>
          {look.since !== '' && (
            <Button
              onClick={() =>
                void start('incident.html', (signal) =>
                  client.incident(compareQueryOf(questionAt(look, log.clock)), { signal }),
                )
              }
            >
              This range as an incident, in one HTML file
            </Button>
          )}
        </Drop>
        {saving === null ? (
          !isMerged(look) && (
            <Button
              class="bare"
              icon="save"
              data-download
              label="Download"
              title="Download the whole file"
              onClick={() => void start(name, (signal) => client.download(name, { signal }), file?.size)}
            />
          )
        ) : (
          <Button title="Stop the download" onClick={saving.stop}>
            <progress max={saving.size ?? undefined} value={saving.size === null ? undefined : saving.done} />
            {bytes(saving.done)} <Icon name="close" />
          </Button>
        )}
      </div>
    </header>
  )
}
