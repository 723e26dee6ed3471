import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Answered, useLoaded } from '../../ui/answered.tsx'
import { Button, Search } from '../../ui/controls.tsx'
import { counted } from '../../ui/format.ts'
import { fieldsQueryOf } from '../find/query.ts'
import { type PanelTab, TABS } from '../preferences.ts'
import type { Log } from '../use-log.ts'
import { FieldList } from './fields.tsx'
import { GroupList } from './groups.tsx'
import { PatternList } from './patterns.tsx'

const NAMES: Record<PanelTab, string> = { fields: 'Fields', patterns: 'Patterns', groups: 'Groups' }

interface SideProps {
  class?: string
  /** What the panel is about. */
  name: string
  /** Its heading, or its tabs. */
  head: ComponentChildren
  close: () => void
  children: ComponentChildren
}

/** A panel beside the records. */
export function SidePanel({ class: own = '', name, head, close, children }: SideProps) {
  return (
    <aside class={`fields ${own}`} aria-label={name}>
      <header>
        {head}
        <Button icon="close" class="quiet" aria-label={`Close ${name.toLowerCase()}`} onClick={close} />
      </header>
      {children}
    </aside>
  )
}

/** What the chosen records are made of: their fields with the most frequent values, and their kinds of messages. */
export function Panel({ log, tab }: { log: Log; tab: PanelTab }) {
  const { showPanel } = log.preferences
  const query = fieldsQueryOf(log.look)
  const fields = useLoaded((signal) => log.client.fields(query, { signal }), JSON.stringify(query), log.ready)
  const [narrow, setNarrow] = useState('')
  const [by, setBy] = useState('')
  const groupBy = (field: string) => {
    setBy(field)
    showPanel('groups')
  }
  const [List, filter] =
    tab === 'fields' ? [FieldList, 'Filter fields and values'] : [PatternList, 'Filter patterns']
  const tabs = (
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
  )
  return (
    <SidePanel name="Fields and patterns" head={tabs} close={() => showPanel('off')}>
      <div id="fields-body" class="body" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        <Answered
          asked={fields}
          // What the list says already is not said again.
          failing={log.failure === null}
          reading="Reading records…"
          said={({ sampled, records }) =>
            tab === 'groups' ? '' : `From ${sampled ? 'the newest ' : ''}${counted(records, 'record')}`
          }
        >
          {(data) =>
            tab === 'groups' ? (
              <GroupList log={log} data={data} by={by} setBy={setBy} />
            ) : (
              <>
                <Search class="narrow" label={filter} value={narrow} set={setNarrow} />
                <List log={log} data={data} needle={narrow.toLowerCase()} groupBy={groupBy} />
              </>
            )
          }
        </Answered>
      </div>
    </SidePanel>
  )
}
