import { useState } from 'preact/hooks'
import type { GroupsQuery, LogFields, LogGroups } from '../../../client.ts'
import { Button } from '../../ui/controls.tsx'
import { Failure } from '../../ui/failure.tsx'
import { count, counted, quantity } from '../../ui/format.ts'
import { useSlow } from '../../ui/store.ts'
import { useLoaded } from '../../ui/use-loaded.ts'
import { fieldsQueryOf } from '../find/query.ts'
import { withValue } from '../find/terms.ts'
import type { Log } from '../use-log.ts'

type Sort = NonNullable<GroupsQuery['sort']>

interface Props {
  log: Log
  data: LogFields
  by: string
  setBy: (field: string) => void
}

/** The records by the values of a field: which path has the most errors, or the slowest requests? */
export function GroupList({ log, data, by, setBy }: Props) {
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
  const slow = useSlow(groups.busy && by !== '')
  const options = (names: string[]) =>
    names.map((name) => (
      <option key={name} value={name}>
        {name}
      </option>
    ))
  return (
    <>
      <p class="choices">
        <label>
          Group by{' '}
          <select value={by} onChange={(event) => setBy(event.currentTarget.value)}>
            {by === '' && <option value="">choose a field</option>}
            {options(data.fields.map(({ name }) => name))}
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
      {groups.error !== null && <Failure error={groups.error} remedies={{ retry: groups.retry }} />}
      <p class="hint" role="status">
        {slow ? 'Grouping records…' : groups.data === null ? '' : summary(groups.data)}
      </p>
      {groups.data !== null && groups.error === null && (
        <Table log={log} data={groups.data} sort={sort} setSort={setSort} />
      )}
    </>
  )
}

interface TableProps {
  log: Log
  data: LogGroups
  sort: Sort
  setSort: (sort: Sort) => void
}

function Table({ log, data, sort, setSort }: TableProps) {
  const columns: [Sort, string][] = [
    ['count', 'Records'],
    ['errors', 'Errors'],
    ...(data.of === null ? [] : ([['p95', 'p95']] as [Sort, string][])),
  ]
  const most = Math.max(1, ...data.groups.map((group) => group[sort] ?? 0))
  return (
    <table class="groups">
      <thead>
        <tr>
          <th scope="col">{data.by}</th>
          {columns.map(([name, label]) => (
            <th scope="col" key={name} aria-sort={sort === name ? 'descending' : 'none'}>
              <Button class="quiet small" onClick={() => setSort(name)}>
                {label}
                {sort === name && ' ↓'}
              </Button>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {data.groups.map((group) => (
          <tr key={group.value}>
            <td class="value">
              <span class="share" style={{ width: `${Math.max(1, ((group[sort] ?? 0) / most) * 100)}%` }} />
              <Button
                class="pick"
                title={detail(group, data)}
                onClick={() =>
                  log.acts.apply(withValue(log.look, { field: data.by, value: group.value }, false))
                }
              >
                <span class="hidden">Only records with {data.by}: </span>
                <span class="text">{group.value === '' ? '(empty)' : group.value}</span>
              </Button>
            </td>
            {columns.map(([name]) => (
              <td key={name} class="count">
                {name === 'p95' ? quantity(group.p95 ?? null, data.unit) : count(group[name])}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
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
