interface Span {
  from: number
  to: number
  /** Class names: `a-fg1`, `a-bg4`, `a-bold`, … */
  classes: string
  /** A colour beyond the sixteen, as `rgb(…)`. */
  color: string | null
}

/** Text without escapes, and the styles that its colour escapes set. */
interface Styled {
  text: string
  spans: Span[]
}

/** ANSI colours become spans; every other escape and control character vanishes, but for tab and line feed. */
export function ansi(source: string): Styled {
  if (!CONTROL.test(source)) return { text: source, spans: [] }
  const spans: Span[] = []
  let text = ''
  let start = 0
  let look: Look = PLAIN
  const close = () => {
    const { classes, color } = dress(look)
    if (text.length > start && (classes !== '' || color !== null))
      spans.push({ from: start, to: text.length, classes, color })
    start = text.length
  }
  let last = 0
  ESCAPE.lastIndex = 0
  for (let found = ESCAPE.exec(source); found !== null; found = ESCAPE.exec(source)) {
    text += source.slice(last, found.index)
    last = found.index + found[0].length
    if (found[1] === undefined) continue
    close()
    look = sgr(look, found[1])
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

/** What is switched on, by the code that does it; `fg` and `bg` are colours. */
type Look = Readonly<Record<string, string>>

const PLAIN: Look = {}
const SWITCHES: Record<number, string> = { 1: 'bold', 2: 'dim', 3: 'italic', 4: 'underline', 7: 'inverse' }
const OFF: Record<number, readonly string[]> = {
  22: ['bold', 'dim'],
  23: ['italic'],
  24: ['underline'],
  27: ['inverse'],
  39: ['fg'],
  49: ['bg'],
}

function sgr(before: Look, params: string): Look {
  const codes = params.split(/[;:]/).map(Number)
  let look: Record<string, string> = { ...before }
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i]!
    const [tens, units] = [Math.floor(code / 10), code % 10]
    const ground = tens === 3 || tens === 9 ? 'fg' : 'bg'
    if (code === 0) look = {}
    else if (code in SWITCHES) look[SWITCHES[code]!] = 'on'
    else if (code in OFF) for (const name of OFF[code]!) delete look[name]
    else if ((tens === 3 || tens === 4) && units === 8) {
      const kind = codes[i + 1]
      const color = kind === 5 ? indexed(codes[i + 2]) : kind === 2 ? rgb(codes, i + 2) : null
      i += kind === 5 ? 2 : kind === 2 ? 4 : 0
      if (color === null) delete look[ground]
      else look[ground] = color
    } else if (units < 8 && [3, 4, 9, 10].includes(tens)) look[ground] = String(units + (tens > 4 ? 8 : 0))
  }
  return look
}

function dress({ fg, bg, inverse, ...rest }: Look): { classes: string; color: string | null } {
  const [front, back] = inverse === undefined ? [fg, bg] : [bg ?? 'base', fg ?? 'text']
  const isDeep = front?.startsWith('rgb') ?? false
  const classes = [
    ...(front === undefined || isDeep ? [] : [`a-fg${front}`]),
    // A true-colour background under a theme's text may be unreadable: only the sixteen are drawn.
    ...(back === undefined || back.startsWith('rgb') ? [] : [`a-bg${back}`]),
    ...Object.keys(rest).map((name) => `a-${name}`),
  ]
  return { classes: classes.join(' '), color: isDeep ? front! : null }
}

/** The 256-colour table: sixteen by name, a cube of 6, then greys. */
function indexed(code: number | undefined): string | null {
  if (code === undefined || Number.isNaN(code) || code > 255) return null
  if (code < 16) return String(code)
  const grey = 8 + (code - 232) * 10
  if (code >= 232) return `rgb(${grey},${grey},${grey})`
  const cube = (n: number) => (n === 0 ? 0 : 55 + n * 40)
  const n = code - 16
  return `rgb(${cube(Math.floor(n / 36))},${cube(Math.floor(n / 6) % 6)},${cube(n % 6)})`
}

function rgb(codes: number[], at: number): string | null {
  const parts = codes.slice(at, at + 3)
  if (parts.length < 3 || parts.some((part) => !(part >= 0 && part <= 255))) return null
  return `rgb(${parts.join(',')})`
}
