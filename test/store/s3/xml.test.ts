import { describe, expect, it } from 'vitest'
import { childText, parseXml } from '../../../src/store/s3/xml.ts'

describe('parseXml', () => {
  it('reads elements, namespaces, attributes, self-closed tags, comments and CDATA', () => {
    const xml = `<?xml version="1.0" encoding="UTF-8"?>
      <!-- a > b -->
      <s3:List xmlns:s3="http://a/b" kind='x>y'>
        <Key>a&amp;b&lt;c&gt;d&quot;e&apos;f&#43;g&#x1F600;</Key><Owner/><Owner />
        <s3:Data a="1"  b='2'
        ><![CDATA[<raw> & ]]>more</s3:Data>
      </s3:List>\n`
    const root = parseXml(xml)
    expect(root.name).toBe('List')
    expect(childText(root, 'Key')).toBe('a&b<c>d"e\'f+g😀')
    expect(childText(root, 'Owner')).toBe('')
    expect(childText(root, 'Data')).toBe('<raw> & more')
    expect(childText(root, 'Other')).toBeNull()
    expect(root.children.map((child) => child.name)).toEqual(['Key', 'Owner', 'Owner', 'Data'])
  })

  it.each([
    '',
    '   ',
    'text',
    'text<a/>',
    '<a/>text',
    '<a>',
    '</a>',
    '<a></b>',
    '<a><b></a></b>',
    '<a/><b/>',
    '<a',
    '<a b=c/>',
    '<a>&unknown;</a>',
    '<a>&constructor;</a>',
    '<a>&amp</a>',
    '<a>& b</a>',
    '<a>&#x110000;</a>',
    '<a><!-- </a>',
    '<a><![CDATA[ </a>',
    '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
    '<?xml version="1.0"',
    '<1a></1a>',
    '<a>'.repeat(100) + '</a>'.repeat(100),
    '{"a": 1}',
    '\u0000\u0001\u0002',
  ])('rejects %j', (xml) => {
    expect(() => parseXml(xml)).toThrow(SyntaxError)
  })
})
