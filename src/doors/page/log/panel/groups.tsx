import { useState } from 'preact/hooks'
import type { GroupsQuery, LogFields, LogGroups } from '../../../client.ts'
import { Answered, useLoaded } from '../../ui/answered.tsx'
import { Button } from '../../ui/controls.tsx'
import { count, counted, quantity } from '../../ui/format.ts'
import { fieldsQueryOf } from '../find/query.ts'
import { withValue } from '../find/terms.ts'
import type { Log } from '../use-log.ts'
import { Entries } from './entries.tsx'

type Sort = NonNullable<GroupsQuery['sort']>

interface Props {
  log: Log
  data: LogFields
  by: string
  setBy: (field: string) => void
}

/** The records by the values of a field: which path has the most errors, or the slowest requests? */
export function GroupList({ log, data, by: asked, setBy }: Props) {
  const by = asked || usualField(data)
  const numeric = data.fields.filter((field) => field.numbers !== undefined && field.name !== by)
  // How long something took is asked most often.
  const usual = (numeric.find((field) => field.numbers!.unit === 'ms') ?? numeric[0])?.name ?? ''
  const [chosen, setOf] = useState<string | null>(null)
  const of = chosen ?? usual
  const [sorted, setSort] = useState<Sort>('p95')
  const sort = of === '' && sorted !== 'errors' ? 'count' : sorted
  const query = { ...fieldsQueryOf(log.look), by, of: of || undefined, sort, limit: MOST }
  const groups = useLoaded(
    (signal) => log.client.groups(query, { signal }),
    JSON.stringify(query),
    log.ready && by !== '',
  )
  const options = (names: string[]) =>
    names.map((name) => (
      <option key={name} value={name}>
        {name}
      </option>
    ))
  if (by === '') return <p class="hint">These records have no fields to group by.</p>
  return (
    <>
      <p class="choices">
        <label>
          Group by{' '}
          <select value={by} onChange={(event) => setBy(event.currentTarget.value)}>
            {options([...new Set([by, ...data.fields.map(({ name }) => name)])])}
          </select>
        </label>
        <label>
          of{' '}
          <select value={of} onChange={(event) => setOf(event.currentTarget.value)}>
            <option value="">nothing</option>
            {options(numeric.map(({ name }) => name))}
          </select>
        </label>
      </p>
      <Answered asked={groups} reading="Grouping records…" said={summary}>
        {(found) => <Groups log={log} data={found} sort={sort} setSort={setSort} />}
      </Answered>
    </>
  )
}

/** What people group by first: a path, then whatever has a few values, in most of the records. */
function usualField({ fields, records }: LogFields): string {
  const named = PATHS.find((name) => fields.some((field) => field.name === name))
  const few = fields.filter(
    ({ name, values, count }) =>
      name !== 'level' && values.length > 1 && values.length < 10 && count * 2 > records,
  )
  return named ?? (few.find(({ numbers }) => numbers === undefined) ?? few[0] ?? fields[0])?.name ?? ''
}

const PATHS = ['path', 'route', 'endpoint', 'url', 'uri', 'request']

interface GroupsProps {
  log: Log
  data: LogGroups
  sort: Sort
  setSort: (sort: Sort) => void
}

function Groups({ log, data, sort, setSort }: GroupsProps) {
  const { by, of, unit, groups } = data
  const columns: [Sort, string][] = [
    ['count', 'Records'],
    ['errors', 'Errors'],
    ...(of === null ? [] : ([['p95', 'p95']] as [Sort, string][])),
  ]
  const most = Math.max(1, ...groups.map((group) => group[sort] ?? 0))
  const headings = [
    <th key="by" scope="col">
      {by}
    </th>,
    ...columns.map(([name, label]) => (
      <th scope="col" key={name} aria-sort={sort === name ? 'descending' : 'none'}>
        <Button class="quiet small" onClick={() => setSort(name)}>
          {label}
          {sort === name && ' ↓'}
        </Button>
      </th>
    )),
  ]
  return (
    <Entries
      class="groups"
      headings={headings}
      spoken={(text) => `with ${by}: ${text}`}
      entries={groups.map((group) => ({
        key: group.value,
        text: group.value === '' ? '(empty)' : group.value,
        title: detail(group, data),
        share: (group[sort] ?? 0) / most,
        figures: columns.map(([name]) =>
          name === 'p95' ? quantity(group.p95 ?? null, unit) : count(group[name]),
        ),
        choose: () => log.acts.apply(withValue(log.look, { field: by, value: group.value }, false)),
      }))}
    />
  )
}

function detail({ min, median, max }: LogGroups['groups'][number], { of, unit }: LogGroups): string {
  if (of === null || min == null) return 'Only these records'
  const [least, middle, most] = [min, median, max].map((value) => quantity(value ?? null, unit))
  return `${of}: ${least} to ${most}, median ${middle}`
}

function summary({ by, records, complete, other, groups }: LogGroups): string {
  const rest = other === undefined ? '' : `; the other values have ${count(other.count)}`
  const part = complete ? '' : ' Not all could be counted.'
  if (groups.length === 0) return `No record has ${by}.${part}`
  return `${counted(records, 'record')}${rest}.${part}`
}

const MOST = 50
