import { describe, expect, it } from 'vitest'
import { parse, textOf, wall, wallAt, zoneOf } from '../../../../../src/doors/page/log/record/record.ts'

const LINE =
  '{"time":"2026-01-10T00:00:04.000+01:00","level":"error","source":{"file":"a/b.go","line":7},"tags":["A","B"],"message":"it broke\\nat x\\n\\tat y","context":{"id":1}}'

describe('parse', () => {
  it('takes a record apart, its stack trace with it', () => {
    expect(parse(LINE)).toEqual({
      time: '2026-01-10T00:00:04.000+01:00',
      level: 'error',
      source: 'a/b.go:7',
      tags: ['A', 'B'],
      message: 'it broke',
      rest: ['at x', '\tat y'],
      context: { id: 1 },
      raw: 'it broke\nat x\n\tat y',
    })
  })

  it.each(['not json', '{"raw":"just text"}', '{}'])('takes anything: %s', (line) => {
    expect(parse(line)).toMatchObject({ time: null, level: null, source: '', tags: [], rest: [] })
  })

  it('counts odd level words among the known ones', () => {
    expect(parse('{"level":"WARNING"}').level).toBe('warn')
    expect(parse('{"level":"odd"}').level).toBeNull()
  })
})

describe('textOf', () => {
  it('writes the line as the log has it, or the message alone', () => {
    const raw = LINE.replace('{', '{"raw":"its own text\\n\\tof two lines\\n",')
    expect(textOf(raw, true)).toBe('its own text\n\tof two lines')
    expect(textOf(LINE, false)).toBe('it broke\nat x\n\tat y')
    expect(textOf('{"message":"red","raw":"\\u001b[31mred\\u001b[0m"}', true)).toBe('red')
  })
})

describe('times', () => {
  it('go to the wall and back', () => {
    expect(wall('2026-01-10T00:00:04.000+01:00')).toBe('2026-01-10 00:00:04.000')
    expect(wall('2026-01-10T00:00:04Z')).toBe('2026-01-10 00:00:04')
    expect([zoneOf('2026-01-10T00:00:04.000-03:30'), zoneOf('2026-01-10T00:00:04Z')]).toEqual([-210, 0])
    expect(wallAt(Date.UTC(2026, 0, 10), 60)).toBe('2026-01-10 01:00:00.000')
  })
})
