import type { Shipper } from '../../ship/shipper.ts'

/** A line for each log on a terminal: bytes, rate and lag. Returns how to stop. */
export function showProgress(shipper: Shipper, terminal: { write(text: string): unknown }): () => void {
  const last = new Map<string, number>()
  let lines = 0
  const show = () => {
    const rows = [...shipper.status].map(([log, { size, lagBytes, lagSeconds }]) => {
      const rate = Math.max(0, size - (last.get(log) ?? size))
      last.set(log, size)
      return `\x1b[2K${log}  ${bytes(size)}  ${bytes(rate)}/s  ${lagBytes === 0 ? 'no lag' : `${bytes(lagBytes)} behind, ${lagSeconds.toFixed(1)} s`}\n`
    })
    terminal.write((lines > 0 ? `\x1b[${lines}A` : '') + rows.join(''))
    lines = rows.length
  }
  const timer = setInterval(show, 1000)
  return () => {
    clearInterval(timer)
    show()
  }
}

function bytes(count: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let at = 0
  let value = count
  for (; value >= 1024 && at < units.length - 1; at++) value /= 1024
  return `${at === 0 ? value : value.toFixed(1)} ${units[at]}`
}
