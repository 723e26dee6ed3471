/** What is counted apart in a chart: a name, which is the class of its bars, and a count for each bar. */
export interface Series {
  name: string
  counts: readonly (number | null)[]
  /** @default that of its class */
  colour?: string | undefined
}

interface Scale {
  /** Where a bar begins, and how wide it is. */
  place: (index: number) => [x: number, width: number]
  /** How tall a part of a bar is; what is not 0 can be seen. */
  tall: (count: number, name: string, isLowest: boolean) => number
  floor: number
}

/** Stacked bars, the first series at the bottom. Errors are told apart without colour, too: by their stripes. */
export function Bars({
  series,
  scale,
  striped,
}: {
  series: readonly Series[]
  scale: Scale
  striped?: boolean
}) {
  const paths = series.map(() => '')
  const stripes = series.map(() => '')
  for (let index = 0; index < (series[0]?.counts.length ?? 0); index++) {
    let y = scale.floor
    const [x, width] = scale.place(index)
    for (const [at, { name, counts }] of series.entries()) {
      const count = counts[index] ?? 0
      const high = count === 0 ? 0 : Math.min(y, scale.tall(count, name, y === scale.floor))
      if (high === 0) continue
      y -= high
      const part = `M${short(x)} ${short(y)}h${short(width)}v${short(high)}h${short(-width)}z`
      paths[at] += part
      if (high >= 5) stripes[at] += part
    }
  }
  return (
    <>
      {striped && (
        <pattern
          id="stripes"
          width="4"
          height="4"
          patternUnits="userSpaceOnUse"
          patternTransform="rotate(45)"
        >
          <path class="ground" d="M0 0h1.4v4h-1.4z" />
        </pattern>
      )}
      {series.map(({ name, colour }, at) => (
        <path key={at} class={`b-${name}`} d={paths[at]} style={colour && { fill: colour }} />
      ))}
      {striped &&
        series.map(
          ({ name }, at) => isSevere(name) && <path key={name} fill="url(#stripes)" d={stripes[at]} />,
        )}
    </>
  )
}

export function isSevere(name: string): boolean {
  return name === 'fatal' || name === 'error'
}

interface LineProps {
  series: readonly Series[]
  /** The highest count; several lines have one scale. */
  peak: number
  label: string
}

/** A chart without an axis, as small as a line of text. What is not known is a dim line. */
export function Sparkline({ series, peak, label }: LineProps) {
  const { counts } = series[0]!
  const scale: Scale = {
    place: (index) => [index, 0.8],
    // By its root: a few are seen beside a thousand.
    tall: (count) => Math.max(2, Math.sqrt(count / peak) * HIGH),
    floor: HIGH,
  }
  const unknown = counts.map((each, index) => (each === null ? `M${index} ${HIGH - 1}h.8v1h-.8z` : ''))
  return (
    <svg
      class="sparkline"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${counts.length} ${HIGH}`}
      preserveAspectRatio="none"
    >
      <title>{label}</title>
      <path class="unknown" d={unknown.join('')} />
      <Bars series={series} scale={scale} />
    </svg>
  )
}

function short(value: number): number {
  return Math.round(value * 10) / 10
}

const HIGH = 22
