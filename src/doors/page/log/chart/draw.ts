import { levelsOf } from '../record/record.ts'
import { markOf, type Sources } from '../record/source.ts'
import { niceMax, timeTicks } from './axis.ts'
import { namesOf } from './totals.ts'
import { type Counted, uncountedOf } from './use-counts.ts'

interface Drawing {
  /** Whether records are being counted for longer than a moment. */
  counting: boolean
  data: Counted | null
  /** The chosen level: those below it are not drawn. */
  level: string
  sources: Sources | null
  /** The moment up to which every one of them is complete. */
  settled: number | null
  zone: number
  seen: [number, number] | null
  /** Pixels that are being dragged over, or that the keyboard has chosen. */
  drag: [number, number] | null
  hover: number | null
}

/** Severe levels are at the bottom, where their height can be compared. */
const ORDER = ['fatal', 'error', 'warn', 'info', 'debug', 'none']

/** Registered, so that the script reads a colour and not the light-dark() that made it. */
for (const name of [...ORDER, 'axis', 'grid', 'label', 'seen', 'drag', 'ground'])
  CSS.registerProperty({ name: `--h-${name}`, syntax: '<color>', inherits: true, initialValue: '#888' })

/** Pixels under the bars for the labels of the axis, and above them for the highest count. */
const AXIS = 15
const TOP = 12

/** What is stacked: the levels that a filter leaves, or the logs or nodes that the chart counts. */
function stacked({ data, level }: Filled): readonly string[] {
  if (namesOf(data) !== data.levels) return namesOf(data)
  const levels = levelsOf(level)
  return levels === null ? ORDER : ORDER.filter((name) => levels.includes(name))
}

export function draw(canvas: HTMLCanvasElement, width: number, drawing: Drawing): void {
  const height = canvas.clientHeight
  const scale = devicePixelRatio || 1
  canvas.width = Math.round(width * scale)
  canvas.height = Math.round(height * scale)
  const pen = canvas.getContext('2d')
  if (pen === null) return
  pen.scale(scale, scale)
  const style = getComputedStyle(canvas)
  const colour = (name: string) => style.getPropertyValue(`--h-${name}`)
  const floor = height - AXIS
  pen.fillStyle = colour('axis')
  pen.fillRect(0, floor, width, 1)
  const { data, drag, hover } = drawing
  if (data === null && drawing.counting) {
    pen.fillStyle = hatch(pen, colour('axis'), 7)
    pen.fillRect(0, TOP, width, floor - TOP)
  }
  if (data === null || data.to <= data.from) return
  pen.font = `10.5px ${style.fontFamily}`
  const x = (ms: number) => ((ms - data.from) / (data.to - data.from)) * width
  for (const part of [drawUncounted, drawBars, drawTicks, drawSettled, drawSeen])
    part(pen, { ...drawing, data }, { width, floor, colour, x })
  if (drag !== null) {
    pen.fillStyle = colour('drag')
    pen.fillRect(Math.min(...drag), 0, Math.abs(drag[1] - drag[0]), floor)
  } else if (hover !== null) {
    pen.fillStyle = colour('axis')
    pen.fillRect(Math.round(hover), 0, 1, floor)
  }
}

type Pen = CanvasRenderingContext2D
type Filled = Drawing & { data: Counted }
interface Room {
  width: number
  floor: number
  colour: (name: string) => string
  x: (ms: number) => number
}

/** What is not counted is hatched: the oldest part, or all of it where a log is missing. */
function drawUncounted(pen: Pen, { data }: Filled, { width, floor, colour, x }: Room): void {
  const first = data.buckets.find(({ counts }) => counts.some((each) => each > 0))
  const to = uncountedOf(data).length > 0 ? width : data.complete ? 0 : x(first?.time ?? data.to)
  pen.fillStyle = hatch(pen, colour('axis'), 7)
  pen.fillRect(0, TOP, to, floor - TOP)
}

/** Diagonal lines, so many pixels apart. */
function hatch(pen: Pen, colour: string, apart: number): CanvasPattern {
  const tile = document.createElement('canvas')
  tile.width = apart
  tile.height = apart
  const lines = tile.getContext('2d')!
  lines.strokeStyle = colour
  lines.beginPath()
  for (const shift of [-apart, 0, apart]) {
    lines.moveTo(shift - 1, apart + 1)
    lines.lineTo(shift + apart + 1, -1)
  }
  lines.stroke()
  return pen.createPattern(tile, 'repeat')!
}

function drawBars(pen: Pen, drawing: Filled, { width, floor, colour, x }: Room): void {
  const { data, sources } = drawing
  const names = namesOf(data)
  const drawn = stacked(drawing)
  const bars = data.buckets.map((bucket) => {
    const parts = drawn.map((name) => ({ name, n: bucket.counts[names.indexOf(name)] ?? 0 }))
    const filled = parts.filter((part) => part.n > 0)
    return { time: bucket.time, parts: filled, all: filled.reduce((sum, part) => sum + part.n, 0) }
  })
  // At least ten: a single record is a low bar, not one that fills the chart.
  const peak = niceMax(Math.max(10, ...bars.map((bar) => bar.all)))
  const room = floor - TOP
  const stripes = hatch(pen, colour('ground'), 4)
  for (const { time, parts, all } of bars) {
    if (all === 0) continue
    const wide = Math.max(1, x(time + data.step) - x(time) - 1)
    // The height is proportional to the count. One error among a million is still seen: two pixels.
    let y = floor
    for (const part of parts) {
      const least = isSevere(part.name) ? 2 : y === floor ? 1 : 0
      const tall = Math.min(y - (floor - room), Math.max(least, (part.n / peak) * room))
      pen.fillStyle =
        names === data.levels || sources === null ? colour(part.name) : markOf(sources, part.name).colour
      pen.fillRect(x(time), y - tall, wide, tall)
      // Told apart without colour, too.
      if (isSevere(part.name) && tall >= 5) {
        pen.fillStyle = stripes
        pen.fillRect(x(time), y - tall, wide, tall)
      }
      y -= tall
    }
  }
  pen.fillStyle = colour('label')
  pen.textAlign = 'left'
  pen.textBaseline = 'top'
  pen.fillText(peak.toLocaleString('en'), 2, 0)
  pen.fillStyle = colour('grid')
  pen.fillRect(0, 11, width, 1)
}

function isSevere(name: string): boolean {
  return name === 'fatal' || name === 'error'
}

function drawTicks(pen: Pen, { data, zone }: Filled, { width, floor, colour, x }: Room): void {
  pen.textBaseline = 'bottom'
  for (const { at, label } of timeTicks(data.from, data.to, { zone, most: Math.floor(width / 90) })) {
    const half = pen.measureText(label).width / 2
    if (x(at) < half || x(at) > width - half) continue
    pen.fillStyle = colour('axis')
    pen.fillRect(Math.round(x(at)), floor, 1, 4)
    pen.fillStyle = colour('label')
    pen.textAlign = 'center'
    pen.fillText(label, x(at), floor + AXIS)
  }
}

/** A line at the moment after which records may still arrive. */
function drawSettled(pen: Pen, { data, settled }: Filled, { width, floor, colour, x }: Room): void {
  if (settled === null || settled < data.from || settled > data.to) return
  pen.fillStyle = colour('seen')
  const left = Math.min(Math.round(x(settled)), width - 1)
  for (let y = 0; y < floor; y += 6) pen.fillRect(left, y, 1, 3)
}

/** A line under the bars where the records in view are. */
function drawSeen(pen: Pen, { seen }: Filled, { width, floor, colour, x }: Room): void {
  if (seen === null) return
  const from = Math.max(0, x(seen[0]))
  const to = Math.min(width, Math.max(x(seen[1]), from + 3))
  if (to <= 0 || from >= width) return
  pen.fillStyle = colour('seen')
  pen.fillRect(Math.min(from, width - 3), floor, Math.max(3, to - from), 3)
}
