interface Span {
  from: number
  to: number
  /** `a-fg1`, `a-bold`. */
  classes: string
}

/** The sixteen colours of ANSI and bold become spans; every other escape and control character vanishes, but for tab and line feed. */
export function ansi(source: string): { text: string; spans: Span[] } {
  if (!CONTROL.test(source)) return { text: source, spans: [] }
  const spans: Span[] = []
  let text = ''
  let start = 0
  let look: Look = PLAIN
  const close = () => {
    const classes = Object.values(look).filter(Boolean).join(' ')
    if (text.length > start && classes !== '') spans.push({ from: start, to: text.length, classes })
    start = text.length
  }
  let last = 0
  for (const { 0: sequence, 1: codes, index } of source.matchAll(ESCAPE)) {
    text += source.slice(last, index)
    last = index + sequence.length
    if (codes === undefined) continue
    close()
    look = dressed(look, codes.split(/[;:]/).map(Number))
  }
  text += source.slice(last)
  close()
  return { text, spans }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/

// Colours (captured) · other CSI · OSC, DCS, PM, APC, SOS up to their end · two-character escapes · stray controls
const ESCAPE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  /(?:\u001b\[|\u009b)([\d;:]*)m|(?:\u001b\[|\u009b)[\u0030-\u003f]*[\u0020-\u002f]*[\u0040-\u007e]?|\u001b[\]PX^_][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|\u001b[\u0020-\u002f]*[\u0030-\u007e]?|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

/** The classes of what is switched on. */
interface Look {
  colour: string
  bold: string
}
const PLAIN: Look = { colour: '', bold: '' }

function dressed(before: Look, codes: readonly number[]): Look {
  let look = before
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i]!
    const [tens, units] = [Math.floor(code / 10), code % 10]
    if (code === 0) look = PLAIN
    else if (code === 1) look = { ...look, bold: 'a-bold' }
    else if (code === 22) look = { ...look, bold: '' }
    else if (code === 38 || code === 48) {
      // One of 256, of which sixteen have names here, or one of millions.
      const [kind, number = 16] = codes.slice(i + 1, i + 3)
      if (code === 38) look = { ...look, colour: kind === 5 && number < 16 ? `a-fg${number}` : '' }
      i += kind === 5 ? 2 : 4
    } else if (code === 39) look = { ...look, colour: '' }
    else if (units < 8 && (tens === 3 || tens === 9))
      look = { ...look, colour: `a-fg${units + (tens === 9 ? 8 : 0)}` }
  }
  return look
}
