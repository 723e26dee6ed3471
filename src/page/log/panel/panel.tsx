import { useState } from 'preact/hooks'
import { type Client, type LogQuery, ProblemError } from '../../../client.ts'
import { Failure } from '../../ui/failure.tsx'
import { count } from '../../ui/format.ts'
import { Icon } from '../../ui/icons.tsx'
import { useSlow } from '../../ui/store.ts'
import type { Look, Term } from '../../url.ts'
import type { Clock } from '../find/clock.ts'
import type { Value } from '../find/terms.ts'
import { FieldList } from './fields.tsx'
import { PatternList } from './patterns.tsx'
import { useFields } from './use-fields.ts'

interface Props {
  client: Client
  query: LogQuery
  look: Look
  ready: boolean
  /** Whether the records could not be loaded either. */
  failed: boolean
  clock: Clock
  tab: 'fields' | 'patterns'
  setTab: (tab: 'fields' | 'patterns') => void
  choose: (value: Value, not: boolean) => void
  openField: (name: string, part: HTMLElement) => void
  filter: (term: Term) => void
  close: () => void
}

/** What the chosen records are made of: their fields with the most frequent values, and their kinds of messages. */
export function Panel(props: Props) {
  const { client, query, look, ready, tab, setTab } = props
  const { data, error, busy, retry } = useFields(client, query, ready)
  const slow = useSlow(busy)
  const [narrow, setNarrow] = useState('')
  const absent = error instanceof ProblemError && error.status === 404 && error.code !== 'unknown-file'
  return (
    <aside class="fields" aria-label="Fields and patterns">
      <header>
        <div class="tabs" role="tablist" aria-label="What to show">
          {(['fields', 'patterns'] as const).map((each) => (
            <button
              type="button"
              role="tab"
              key={each}
              id={`tab-${each}`}
              aria-selected={tab === each}
              aria-controls="fields-body"
              onClick={() => setTab(each)}
            >
              {each === 'fields' ? 'Fields' : 'Patterns'}
            </button>
          ))}
        </div>
        <button type="button" class="quiet" aria-label="Close fields and patterns" onClick={props.close}>
          <Icon name="close" />
        </button>
      </header>
      <div id="fields-body" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {error !== null ? (
          absent ? (
            <p class="hint">This node does not list fields.</p>
          ) : (
            // What the list says already is not said again.
            !props.failed && <Failure error={error} remedies={{ retry }} />
          )
        ) : data === null ? (
          <p class="hint" role="status">
            {slow ? 'Reading records…' : ''}
          </p>
        ) : (
          <>
            <p class="hint" role="status">
              {slow
                ? 'Reading records…'
                : `From ${data.sampled ? 'the newest ' : ''}${records(data.records)}`}
            </p>
            <input
              type="search"
              class="narrow"
              placeholder={tab === 'fields' ? 'Filter fields and values' : 'Filter patterns'}
              aria-label={tab === 'fields' ? 'Filter fields and values' : 'Filter patterns'}
              value={narrow}
              onInput={(event) => setNarrow(event.currentTarget.value)}
            />
            {tab === 'fields' ? (
              <FieldList
                data={data}
                look={look}
                narrow={narrow}
                choose={props.choose}
                open={props.openField}
              />
            ) : (
              <PatternList data={data} clock={props.clock} narrow={narrow} filter={props.filter} />
            )}
          </>
        )}
      </div>
    </aside>
  )
}

function records(number: number): string {
  return `${count(number)} ${number === 1 ? 'record' : 'records'}`
}
