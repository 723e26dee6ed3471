import { describe, expect, it } from 'vitest'
import { readingText, readTyped, withReading } from '../../../../../src/doors/page/log/find/typed.ts'
import { NOTHING } from '../../../../../src/doors/page/url.ts'

const NAMES = new Set(['status', 'path', 'duration', 'message'])
const read = (text: string) => readTyped(text, NAMES)
const where = (value: string) => ({ kind: 'where', value }) as const

describe('what is typed into the search field', () => {
  it('is read as conditions on fields', () => {
    expect(read('status>=500')).toEqual({ terms: [where('status>=500')], isLikely: true })
    expect(read('duration>1s')).toEqual({ terms: [where('duration>1s')], isLikely: true })
    expect(read('path:/x')).toEqual({ terms: [where('path:/x')], isLikely: true })
    expect(read('path~/api/*')).toEqual({ terms: [where('path~/api/*')], isLikely: true })
    expect(read('path!=/x')).toEqual({ terms: [where('!path:/x')], isLikely: true })
    expect(read('-path:/x')).toEqual({ terms: [where('!path:/x')], isLikely: true })
    expect(read('!status>=500')).toEqual({ terms: [where('!status>=500')], isLikely: true })
    expect(read('message:"two words"')).toEqual({ terms: [where('message:two words')], isLikely: true })
  })

  it('is read as levels', () => {
    expect(read('level:error')).toEqual({ terms: [], level: '=error', isLikely: true })
    expect(read('level:WARN,error')).toEqual({ terms: [], level: '=warn,error', isLikely: true })
    expect(read('level>=warn')).toEqual({ terms: [], level: 'warn', isLikely: true })
    expect(read('level>=debug')).toEqual({ terms: [], level: '', isLikely: true })
    expect(read('-level:debug')).toEqual({ terms: [where('!level:debug')], isLikely: true })
  })

  it('is read as texts and patterns, to find or to leave out', () => {
    expect(read('"two words"')?.terms).toEqual([{ kind: 'q', value: 'two words' }])
    expect(read('-retry')?.terms).toEqual([{ kind: 'not', value: 'retry' }])
    expect(read('-"two words"')?.terms).toEqual([{ kind: 'not', value: 'two words' }])
    expect(read('/a+ b/')?.terms).toEqual([{ kind: 'regex', value: 'a+ b' }])
    expect(read('-/a+/')?.terms).toEqual([{ kind: 'notregex', value: 'a+' }])
  })

  it('may be several conditions, and words beside them', () => {
    expect(read('status>=500 duration>1s')?.terms).toEqual([where('status>=500'), where('duration>1s')])
    expect(read('disk full status>=500 -retry')).toEqual({
      terms: [{ kind: 'q', value: 'disk full' }, where('status>=500'), { kind: 'not', value: 'retry' }],
      isLikely: true,
    })
  })

  it('is text where it hardly is a condition', () => {
    for (const text of [
      '',
      'disk full',
      '12:30',
      'error:',
      '/api/login/',
      '--force',
      '-1',
      'a->b',
      'x=1',
      '"',
    ])
      expect(read(text), text).toBeNull()
    // A field that is not known may be one; the text is more likely.
    expect(read('shrad:7')).toEqual({ terms: [where('shrad:7')], isLikely: false })
    expect(read('http://db-4/x')?.isLikely).toBe(false)
    expect(read('said "no"')?.isLikely).toBe(false)
  })

  it('replaces the searched text and joins the other conditions', () => {
    const look = {
      ...NOTHING,
      file: 'a.log',
      level: 'warn',
      terms: [{ kind: 'q', value: 'old' } as const, where('path:/x')],
    }
    expect(withReading(look, read('status>=500')!)).toEqual({
      level: 'warn',
      terms: [where('path:/x'), where('status>=500')],
    })
    expect(withReading(look, read('level:error')!).level).toBe('=error')
    expect(readingText(read('level:error status>=500 -x')!)).toBe('level: error, status ≥ 500, not “x”')
  })
})
