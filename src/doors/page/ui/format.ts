/** Bytes for people: `1.4 MB`, in powers of 1024. */
export function bytes(count: number): string {
  if (count < 1024) return `${count} B`
  const units = ['KB', 'MB', 'GB', 'TB', 'PB']
  let value = count
  let unit = -1
  do {
    value /= 1024
    unit++
  } while (value >= 1023.95 && unit < units.length - 1)
  return `${value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`
}

/** How long ago, in the largest unit that says enough: `3 min`, `2 days`. */
export function ago(then: number): string {
  return secondsAgo((Date.now() - then) / 1000)
}

export function secondsAgo(seconds: number): string {
  return seconds < 5 ? 'just now' : `${span(Math.round(seconds))} ago`
}

export function span(seconds: number): string {
  const steps: [number, string, string][] = [
    [86_400 * 365, 'year', 'years'],
    [86_400 * 30, 'month', 'months'],
    [86_400, 'day', 'days'],
    [3_600, 'h', 'h'],
    [60, 'min', 'min'],
  ]
  for (const [size, one, many] of steps) {
    const count = Math.floor(seconds / size)
    if (count >= 1) return `${count} ${count === 1 ? one : many}`
  }
  return `${seconds} s`
}

export function count(value: number | null | undefined): string {
  return value?.toLocaleString('en') ?? ''
}

/** A number of things: `1 record`, `1,204 records`. */
export function counted(value: number, thing: string): string {
  return `${count(value)} ${thing}${value === 1 ? '' : 's'}`
}

/** A text as a regular expression that finds it. */
export function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}

/** A moment in the browser's own zone, to the second, with the zone's distance from UTC. */
export function moment(ms: number): string {
  const date = new Date(ms)
  if (Number.isNaN(date.getTime())) return 'unknown'
  const minutes = -date.getTimezoneOffset()
  const wall = new Date(ms + minutes * 60_000).toISOString().slice(0, 19).replace('T', ' ')
  return `${wall} ${zoneName(minutes)}`
}

/** A zone by its distance from UTC in minutes: `UTC`, `UTC+01:00`. */
export function zoneName(minutes: number): string {
  if (minutes === 0) return 'UTC'
  const pad = (value: number) => String(value).padStart(2, '0')
  const away = Math.abs(minutes)
  return `UTC${minutes < 0 ? '-' : '+'}${pad(Math.floor(away / 60))}:${pad(away % 60)}`
}

/** A number of a field as people read it: `1.9 s`, `4.0 KB`, `503`; '' for none. */
export function quantity(value: number | null, unit: 'ms' | 'bytes' | null): string {
  if (value === null) return ''
  if (unit === 'bytes') return bytes(Math.round(value))
  if (unit === null) return count(rounded(value))
  const [size, name] = value < 1000 ? [1, 'ms'] : value < 60_000 ? [1000, 's'] : [60_000, 'min']
  return `${count(rounded(value / size))} ${name}`
}

/** Three digits are enough to compare. */
function rounded(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3))
}
