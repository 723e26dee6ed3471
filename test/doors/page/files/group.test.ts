import { describe, expect, it } from 'vitest'
import { familyOf, grouped, type LogEntry } from '../../../../src/doors/page/files/group.ts'
import { grown, inOrder } from '../../../../src/doors/page/files/order.ts'
import { NAMINGS } from '../../../log/rotated/namings.ts'

const file = (name: string, modified?: string) => ({ name, size: 1, ...(modified ? { modified } : {}) })
/** Names only: each log with its rotated files, as [head, ...rotated]. */
const names = (entries: LogEntry[]) =>
  entries.map(({ head, rotated }) => [head.name, ...rotated.map((each) => each.name)])

describe('the list of logs', () => {
  it.each([
    [
      ['a.log', 'a.log.1', 'a.log.2.gz'],
      ['a.log', 'a.log.2.gz', 'a.log.1'],
    ],
    [['a.log', 'a-2026-11-14.log', 'a-2026-11-14T10-00-00.000.log.gz'], null],
    [['a.log', 'a.log-20261114', 'a.log.2026-11-13.gz'], null],
    [['syslog', 'syslog.1'], null],
    [['app.log', 'app.1.log'], null],
    [['a-2026-11-14.log', 'a-2026-11-15.log'], null],
    [['broker.log', 'broker.log@000011'], null],
  ])('groups %j under one log', (all, order) => {
    const [only, ...others] = names(grouped(all.map((name) => file(name))))
    expect(others).toEqual([])
    expect([...only!].sort()).toEqual([...all].sort())
    if (order !== null) expect(only).toEqual(order)
  })

  it.each([[['shard.1.log', 'shard.2.log']], [['a.log', 'b.log']], [['a.log', 'a.log.gz.txt']]])(
    'keeps %j apart',
    (all) => {
      expect(grouped(all.map((name) => file(name))).length).toBe(all.length)
    },
  )

  it.each(NAMINGS)('groups the files of $who ($how) as the reader does', ({ files, others = [] }) => {
    const all = [...files, ...others].map((name) => file(name))
    const family = familyOf(all, files.at(-1)!).map(({ name }) => name)
    expect(family.sort()).toEqual([...files].sort())
  })

  it('believes the node about which log a file belongs to', () => {
    const files = [file('x'), { ...file('y'), log: 'x' }, { ...file('z'), log: null }]
    expect(names(grouped(files))).toEqual([['x', 'y'], ['z']])
    expect(familyOf(files, 'y').map((each) => each.name)).toEqual(['x', 'y'])
  })

  it('orders by age when times come, and then moves nothing', () => {
    const plain = inOrder([file('a'), file('b')], null)
    expect(plain.map((each) => each.name)).toEqual(['a', 'b'])
    const timed = inOrder([file('a', '2026-01-01T00:00:00Z'), file('b', '2026-01-02T00:00:00Z')], plain)
    expect(timed.map((each) => each.name)).toEqual(['b', 'a'])
    const more = inOrder([file('a', '2026-01-03T00:00:00Z'), file('b'), file('c')], timed)
    expect(more.map((each) => each.name)).toEqual(['c', 'b', 'a'])
    expect(more[1]!.modified).toBe('2026-01-02T00:00:00Z')
    expect(grown(timed, [{ name: 'a', size: 5 }])[1]!.size).toBe(5)
  })
})
