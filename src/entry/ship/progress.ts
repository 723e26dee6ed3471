import type { Shipper } from '../../ship/shipper.ts'

interface Terminal {
  write(text: string): unknown
  columns?: number
}

const UP_AND_CLEAR = (lines: number) => (lines > 0 ? `\x1b[${lines}A\r\x1b[J` : '')

/** Shows a line for each log at the bottom of a terminal, once a second: bytes, rate and lag. */
export function showProgress(status: () => Shipper['status'], terminal: Terminal) {
  const before = new Map<string, number>()
  let rows: string[] = []
  let at = Date.now()
  const write = (text: string, next: string[]) => {
    const lines = next.map((row) => `${row}\n`).join('')
    terminal.write(UP_AND_CLEAR(rows.length) + text + lines)
    rows = next
  }
  const show = () => {
    const seconds = Math.max(0.001, (Date.now() - at) / 1000)
    at = Date.now()
    const next = [...status()].map(([log, { size, lagBytes, lagSeconds }]) => {
      const rate = Math.max(0, size - (before.get(log) ?? size)) / seconds
      before.set(log, size)
      const lag = lagBytes === 0 ? 'no lag' : `${bytes(lagBytes)} behind, ${lagSeconds.toFixed(1)} s`
      // A longer row would wrap, and then more lines than rows would have to be cleared.
      return `${printable(log)}  ${bytes(size)}  ${bytes(rate)}/s  ${lag}`.slice(0, widthOf(terminal))
    })
    write('', next)
  }
  const timer = setInterval(show, 1000)
  return {
    above: (text: string) => write(text, rows),
    /** Shows the last state and leaves it there. */
    stop() {
      clearInterval(timer)
      show()
    },
  }
}

/** A pseudo terminal without a size has 0 columns. */
function widthOf({ columns = 0 }: Terminal): number {
  return columns > 1 ? columns - 1 : Number.POSITIVE_INFINITY
}

/** A file's name may hold anything, such as the escape sequences of a terminal. */
export function printable(name: string): string {
  return name.replace(/\p{Cc}/gu, '?')
}

function bytes(count: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let at = 0
  let value = count
  for (; value >= 1024 && at < units.length - 1; at++) value /= 1024
  return `${at === 0 ? Math.round(value) : value.toFixed(1)} ${units[at]}`
}
