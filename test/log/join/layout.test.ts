import { describe, expect, it } from 'vitest'
import { folderPeriod, nameAt, parseKey } from '../../../src/log/join/layout.ts'

const UUID = '0f8fad5b-d9cb-469f-a165-70867728950e'
const at = (text: string) => Date.parse(text)

describe('parseKey', () => {
  const members: [shipper: string, key: string, log: string, time: string][] = [
    ['Vector', `app/date=2026-11-15/1794740400-${UUID}.log.gz`, 'app', '2026-11-15T11:00:00Z'],
    ['Vector at the top', `date=2026-11-15/1794740400-${UUID}.log`, '', '2026-11-15T11:00:00Z'],
    ['Vector without folders', `app/1794740400-${UUID}.log.gz`, 'app', '2026-11-15T11:00:00Z'],
    [
      'Fluent Bit',
      'fluent-bit-logs/app.x/2026/11/15/10/05/30-objectAbCd1234',
      'fluent-bit-logs/app.x',
      '2026-11-15T10:05:30Z',
    ],
    ['Firehose', `2026/11/15/10/s-1-2026-11-15-10-05-30-${UUID}`, '', '2026-11-15T10:05:30Z'],
    [
      'Firehose with a prefix',
      `a/b/2026/11/15/10/s-1-2026-11-15-10-05-30-${UUID}.gz`,
      'a/b',
      '2026-11-15T10:05:30Z',
    ],
    ['Logstash', `x/ls.s3.${UUID}.2026-11-15T10.00.tag_hello.part0.txt`, 'x', '2026-11-15T10:00:00Z'],
    ['Hive folders', 'x/year=2026/month=11/day=15/hour=10/anything.json', 'x', '2026-11-15T10:00:00Z'],
    ['folders below the date', 'x/2026-11-15/host-a/anything.log', 'x', '2026-11-15T00:00:00Z'],
    ['a date without dashes', 'x/20261115/a', 'x', '2026-11-15T00:00:00Z'],
    [
      'a name from another day stays in its folder',
      `x/date=2026-11-14/1794740400-${UUID}`,
      'x',
      '2026-11-14T23:59:59.999Z',
    ],
  ]
  it.each(members)('%s: %s', (_shipper, key, log, time) => {
    expect(parseKey(key)).toEqual({ log, time: at(time) })
  })

  it.each([
    'broker.log',
    'broker-2026-11-15.log',
    'broker.log-20261115.gz',
    'a/2026/report.log',
    'a/2026/11/report.log',
    'a/2026/13/15/x.log',
    'a/1234/56/x',
    `a/not-a-uuid-1794740400-x.log`,
    '1794740400-x.log',
    'date=2026-11-15/',
    '',
  ])('%j belongs to no joined log', (key) => {
    expect(parseKey(key)).toBeNull()
  })
})

describe('folderPeriod', () => {
  it.each([
    ['2026/', '2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z'],
    ['2026/11/', '2026-11-01T00:00:00Z', '2026-12-01T00:00:00Z'],
    ['2026/12/', '2026-12-01T00:00:00Z', '2027-01-01T00:00:00Z'],
    ['2026/11/15/', '2026-11-15T00:00:00Z', '2026-11-16T00:00:00Z'],
    ['date=2026-11-15/', '2026-11-15T00:00:00Z', '2026-11-16T00:00:00Z'],
    ['2026/11/15/10/', '2026-11-15T10:00:00Z', '2026-11-15T11:00:00Z'],
    ['2026/11/15/10/05/', '2026-11-15T10:05:00Z', '2026-11-15T10:06:00Z'],
  ])('%s', (folder, from, to) => {
    expect(folderPeriod(folder)).toEqual({ from: at(from), to: at(to) })
  })

  it('is none of a folder that is not dated', () => {
    for (const folder of ['app/', '11/', '99999/', 'x/2026/']) expect(folderPeriod(folder), folder).toBeNull()
  })
})

describe('nameAt', () => {
  it('sorts among the names of an instant, where names begin with one', () => {
    const name = nameAt(`1794740400-${UUID}.log`, at('2026-11-15T11:00:01Z'))!
    expect(name > `1794740400-${UUID}.log` && name < `1794740402-${UUID}.log`).toBe(true)
    expect(nameAt(`ls.s3.${UUID}.2026-11-15T10.00.part0.txt`, 0)).toBeNull()
  })
})
