import { useState } from 'preact/hooks'
import { Button, Search } from '../../ui/controls.tsx'
import { Failure } from '../../ui/failure.tsx'
import { counted } from '../../ui/format.ts'
import { later } from '../../ui/later.tsx'
import { useSlow } from '../../ui/store.ts'
import { useLoaded } from '../../ui/use-loaded.ts'
import { fieldsQueryOf } from '../find/query.ts'
import { type PanelTab, TABS } from '../preferences.ts'
import type { Log } from '../use-log.ts'
import { FieldList } from './fields.tsx'
import { PatternList } from './patterns.tsx'

const GroupList = later(() => import('../../parts.ts').then((parts) => parts.GroupList))

const NAMES: Record<PanelTab, string> = { fields: 'Fields', patterns: 'Patterns', groups: 'Groups' }

/** What the chosen records are made of: their fields with the most frequent values, and their kinds of messages. */
export function Panel({ log, tab }: { log: Log; tab: PanelTab }) {
  const { showPanel } = log.preferences
  const query = fieldsQueryOf(log.look)
  const { data, error, busy, retry } = useLoaded(
    (signal) => log.client.fields(query, { signal }),
    JSON.stringify(query),
    log.ready,
  )
  const slow = useSlow(busy)
  const [narrow, setNarrow] = useState('')
  const [by, setBy] = useState('')
  const groupBy = (field: string) => {
    setBy(field)
    showPanel('groups')
  }
  const [List, filter] =
    tab === 'fields' ? [FieldList, 'Filter fields and values'] : [PatternList, 'Filter patterns']
  return (
    <aside class="fields" aria-label="Fields and patterns">
      <header>
        <div class="tabs" role="tablist" aria-label="What to show">
          {TABS.map((each) => (
            <Button
              role="tab"
              key={each}
              id={`tab-${each}`}
              aria-selected={tab === each}
              aria-controls="fields-body"
              onClick={() => showPanel(each)}
            >
              {NAMES[each]}
            </Button>
          ))}
        </div>
        <Button
          icon="close"
          class="quiet"
          aria-label="Close fields and patterns"
          onClick={() => showPanel('off')}
        />
      </header>
      <div id="fields-body" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {error !== null ? (
          // What the list says already is not said again.
          log.failure === null && <Failure error={error} remedies={{ retry }} />
        ) : data === null ? (
          <p class="hint" role="status">
            {slow ? 'Reading records…' : ''}
          </p>
        ) : tab === 'groups' ? (
          <GroupList log={log} data={data} by={by} setBy={setBy} />
        ) : (
          <>
            <p class="hint" role="status">
              {slow
                ? 'Reading records…'
                : `From ${data.sampled ? 'the newest ' : ''}${counted(data.records, 'record')}`}
            </p>
            <Search class="narrow" label={filter} value={narrow} set={setNarrow} />
            <List log={log} data={data} needle={narrow.toLowerCase()} groupBy={groupBy} />
          </>
        )}
      </div>
    </aside>
  )
}
