import { describe, expect, it } from 'vitest'
import { elementsIn, textOf } from '../../../src/store/s3/xml.ts'

describe('elementsIn', () => {
  it('reads elements, namespaces, attributes and self-closed tags', () => {
    const xml = `<?xml version="1.0" encoding="UTF-8"?>
      <s3:List xmlns:s3="http://a/b">
        <Key>a&amp;b&lt;c&gt;d&quot;e&apos;f&#43;g&#x1F600;</Key><Owner/><Owner />
        <s3:Data a="1"  b='2'
        >more</s3:Data>
      </s3:List>\n`
    const [root, ...others] = elementsIn(xml)
    expect([root!.name, others]).toEqual(['List', []])
    const inside = elementsIn(root!.inside)
    expect(inside.map(({ name }) => name)).toEqual(['Key', 'Owner', 'Owner', 'Data'])
    expect(textOf(inside, 'Key')).toBe('a&b<c>d"e\'f+g😀')
    expect(textOf(inside, 'Owner')).toBe('')
    expect(textOf(inside, 'Data')).toBe('more')
    expect(textOf(inside, 'Other')).toBeNull()
  })

  it.each([
    'text',
    'text<a/>',
    '<a/>text',
    '<a>',
    '</a>',
    '<a></b>',
    '<a',
    '<a><!-- </a>x',
    '<1a></1a>',
    '{"a": 1}',
  ])('rejects %j', (xml) => {
    expect(() => elementsIn(xml)).toThrow(SyntaxError)
  })

  it.each(['&unknown;', '&constructor;', '&amp', '& b', '&#x110000;', '<b/>'])(
    'rejects the text %j',
    (text) => {
      expect(() => textOf(elementsIn(`<a>${text}</a>`), 'a')).toThrow(SyntaxError)
    },
  )
})
