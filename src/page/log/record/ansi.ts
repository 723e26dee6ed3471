/** A stretch of text with one look. */
interface Span {
  start: number
  end: number
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
    if (look !== PLAIN && text.length > start) {
      const { classes, color } = dress(look)
      if (classes !== '' || color !== null) spans.push({ start, end: text.length, classes, color })
    }
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

interface Look {
  fg: string | null
  bg: string | null
  bold: boolean
  dim: boolean
  italic: boolean
  underline: boolean
  inverse: boolean
}

const PLAIN: Look = {
  fg: null,
  bg: null,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  inverse: false,
}

function sgr(before: Look, params: string): Look {
  const codes = params.split(/[;:]/).map((code) => (code === '' ? 0 : Number(code)))
  let look = { ...before }
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i]!
    if (code === 0) look = { ...PLAIN }
    else if (code === 1) look.bold = true
    else if (code === 2) look.dim = true
    else if (code === 3) look.italic = true
    else if (code === 4) look.underline = true
    else if (code === 7) look.inverse = true
    else if (code === 22) look.bold = look.dim = false
    else if (code === 23) look.italic = false
    else if (code === 24) look.underline = false
    else if (code === 27) look.inverse = false
    else if (code >= 30 && code <= 37) look.fg = String(code - 30)
    else if (code >= 90 && code <= 97) look.fg = String(code - 82)
    else if (code >= 40 && code <= 47) look.bg = String(code - 40)
    else if (code >= 100 && code <= 107) look.bg = String(code - 92)
    else if (code === 39) look.fg = null
    else if (code === 49) look.bg = null
    else if (code === 38 || code === 48) {
      const deep = codes[i + 1] === 5 ? indexed(codes[i + 2]) : codes[i + 1] === 2 ? rgb(codes, i + 2) : null
      i += codes[i + 1] === 5 ? 2 : codes[i + 1] === 2 ? 4 : 0
      if (code === 38) look.fg = deep
      else look.bg = deep
    }
  }
  return same(look, PLAIN) ? PLAIN : look
}

function same(a: Look, b: Look): boolean {
  return (Object.keys(a) as (keyof Look)[]).every((key) => a[key] === b[key])
}

function dress(look: Look): { classes: string; color: string | null } {
  const [fg, bg] = look.inverse ? [look.bg ?? 'base', look.fg ?? 'text'] : [look.fg, look.bg]
  const classes: string[] = []
  let color: string | null = null
  if (fg?.startsWith('rgb')) color = fg
  else if (fg !== null) classes.push(`a-fg${fg}`)
  // A true-colour background under a theme's text may be unreadable: only the sixteen are drawn.
  if (bg !== null && !bg.startsWith('rgb')) classes.push(`a-bg${bg}`)
  for (const name of ['bold', 'dim', 'italic', 'underline'] as const)
    if (look[name]) classes.push(`a-${name}`)
  return { classes: classes.join(' '), color }
}

/** The 256-colour table: sixteen by name, a cube of 6, then greys. */
function indexed(code: number | undefined): string | null {
  if (code === undefined || Number.isNaN(code) || code > 255) return null
  if (code < 16) return String(code)
  if (code >= 232) return `rgb(${grey(code)},${grey(code)},${grey(code)})`
  const cube = (n: number) => (n === 0 ? 0 : 55 + n * 40)
  const n = code - 16
  return `rgb(${cube(Math.floor(n / 36))},${cube(Math.floor(n / 6) % 6)},${cube(n % 6)})`
}

function grey(code: number): number {
  return 8 + (code - 232) * 10
}

function rgb(codes: number[], at: number): string | null {
  const parts = codes.slice(at, at + 3)
  if (parts.length < 3 || parts.some((part) => !(part >= 0 && part <= 255))) return null
  return `rgb(${parts.join(',')})`
}
