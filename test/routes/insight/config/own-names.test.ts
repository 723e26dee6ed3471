import { describe, expect, it } from 'vitest'
import { withoutOwnNames } from '../../../../src/routes/insight/config/own-names.ts'

const NODE = {
  hostIp: '10.0.0.4',
  hostName: 'db-4.example.com',
  grpcPort: 2891,
  httpPort: 3000,
  version: '1',
  onlineTime: 3,
}
const simplify = withoutOwnNames('db-4', NODE)
/** What the same value looks like on another node. */
const other = withoutOwnNames('db-5', {
  ...NODE,
  hostIp: '10.0.0.50',
  hostName: 'db-5.example.com',
  grpcPort: 2892,
  httpPort: 3001,
})

describe('withoutOwnNames', () => {
  it.each([
    ['"db-4:2891"', '"db-5:2892"'],
    ['"/data/db-4"', '"/data/db-5"'],
    ['"/data/db-4/wal-db-4"', '"/data/db-5/wal-db-5"'],
    ['"db-4.example.com"', '"db-5.example.com"'],
    ['"http://10.0.0.4:3000/x"', '"http://10.0.0.50:3001/x"'],
    ['3000', '3001'],
    ['["db-4", 2891]', '["db-5", 2892]'],
  ])('makes %s and %s the same', (one, two) => {
    expect(simplify(one)).toBe(other(two))
  })

  it.each([
    ['"db-40"', '"db-50"'],
    ['"mydb-4"', '"mydb-5"'],
    ['"db-4_a"', '"db-5_a"'],
    ['"10.0.0.44"', '"10.0.0.55"'],
    ['"110.0.0.4"', '"110.0.0.50"'],
    ['"1.10.0.0.4"', '"1.10.0.0.50"'],
    ['13000', '13001'],
    ['3000.5', '3001.5'],
    ['1.3000', '1.3001'],
    ['"db-4:2891"', '"db-5:3001"'],
    ['"db-4"', '"10.0.0.50"'],
    ['"db-4é"', '"db-5é"'],
  ])('keeps %s and %s apart', (one, two) => {
    expect(simplify(one)).not.toBe(other(two))
  })

  it('needs no description, and takes odd names literally', () => {
    expect(withoutOwnNames('a.b', null)('"a.b axb"')).toBe('"\x01 axb"')
    expect(withoutOwnNames('a', { ...NODE, hostName: 'x+(y', grpcPort: 0 })('"x+(y 0"')).toBe('"\x01 0"')
    expect(withoutOwnNames('a', { ...NODE, hostName: '' })('"b"')).toBe('"b"')
  })
})
