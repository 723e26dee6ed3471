import { describe, expect, it } from 'vitest'
import { familyOf, parseName } from '../../../src/log/files/family.ts'
import type { Entry } from '../../../src/store/store.ts'

const entry = (key: string, modified = 0): Entry => ({ key, size: 1, modified, etag: `"${key}"` })
const names = (name: string, keys: (string | [string, number])[]) =>
  familyOf(
    name,
    keys.map((key) => (typeof key === 'string' ? entry(key) : entry(...key))),
  ).map((member) => member.key)

describe('parseName', () => {
  it.each([
    ['broker.log', 'broker.log', '', -1, false],
    ['broker-2026-11-14.log', 'broker.log', '20261114', -1, false],
    ['broker-2026-11-14T10-00-00.000.log', 'broker.log', '20261114100000000', -1, false],
    ['broker-2026-11-14T10-00-00.000.log.gz', 'broker.log', '20261114100000000', -1, true],
    ['broker.2026-11-14.log.gz', 'broker.log', '20261114', -1, true],
    ['broker_20261114.log', 'broker.log', '20261114', -1, false],
    ['broker.log.1', 'broker.log', '', 1, false],
    ['broker.log.2.gz', 'broker.log', '', 2, true],
    ['broker.log.12.zst', 'broker.log', '', 12, true],
    ['broker.log-20261114', 'broker.log', '20261114', -1, false],
    ['broker.log-20261114.gz', 'broker.log', '20261114', -1, true],
    ['broker.log-20261114-2', 'broker.log', '20261114', 2, false],
    ['broker.log.2026-11-14', 'broker.log', '20261114', -1, false],
    ['broker.log-1794650400', 'broker.log', '20261114100000', -1, false],
    ['broker-2026-11-14.3.log', 'broker.log', '20261114', 3, false],
    ['broker-slow.log', 'broker-slow.log', '', -1, false],
    ['broker-slow-2026-11-14.log', 'broker-slow.log', '20261114', -1, false],
    ['broker-2.log', 'broker-2.log', '', -1, false],
    ['node-1.2.3.log', 'node-1.2.3.log', '', -1, false],
    ['broker-2026-13-14.log', 'broker-2026-13-14.log', '', -1, false],
    ['syslog', 'syslog', '', -1, false],
    ['syslog-20261114', 'syslog', '20261114', -1, false],
    ['broker.log.gz', 'broker.log', '', -1, true],
    ['.gz', '', '', -1, true],
  ])('%s', (name, stem, date, index, compressed) => {
    expect(parseName(name)).toEqual({ stem, date, index, compressed })
  })
})

describe('familyOf', () => {
  it('puts numbered files in order, the highest number first and the active file last', () => {
    const keys = ['broker.log', 'broker.log.1', 'broker.log.10.gz', 'broker.log.2.gz', 'broker-slow.log']
    const family = ['broker.log.10.gz', 'broker.log.2.gz', 'broker.log.1', 'broker.log']
    expect(names('broker.log', keys)).toEqual(family)
    expect(names('broker.log.2.gz', keys)).toEqual(family)
  })
  it('puts dated files in order', () => {
    expect(
      names('broker.log', [
        'broker-2026-11-14T10-00-00.000.log',
        'broker-2026-11-13T10-00-00.000.log.gz',
        'broker-2026-11-14T09-00-00.000.log',
        'broker-slow-2026-11-14T09-30-00.000.log',
        'broker.log',
      ]),
    ).toEqual([
      'broker-2026-11-13T10-00-00.000.log.gz',
      'broker-2026-11-14T09-00-00.000.log',
      'broker-2026-11-14T10-00-00.000.log',
      'broker.log',
    ])
  })
  it('counts a file once while it is being compressed', () => {
    expect(names('broker.log', ['broker.log', 'broker.log.1', 'broker.log.1.gz'])).toEqual([
      'broker.log.1',
      'broker.log',
    ])
  })
  it('puts dates and numbers together in order of change', () => {
    expect(
      names('a.log', [
        ['a.log', 9],
        ['a.log.1', 5],
        ['a.log-20261114', 7],
        ['a.log-20261113', 3],
      ]),
    ).toEqual(['a.log-20261113', 'a.log.1', 'a.log-20261114', 'a.log'])
  })
  it('knows no relatives of a name in no family', () => {
    expect(names('a.log', ['b.log', 'a.log2', 'a.logs', 'a.log'])).toEqual(['a.log'])
  })
})
