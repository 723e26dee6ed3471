// Logs to attack, and the service in a container of 256 MiB.
import { closeSync, openSync, writeSync } from 'node:fs'
import { MB, memoryLimit, serve } from './service.mjs'

export const stamp = (i) => new Date(Date.UTC(2026, 10, 15) + i).toISOString().replace('T', ' ').slice(0, 23)
export const line = (i, message = `number ${i}`) => `${stamp(i)}\tINFO\ta.go:1\t[A]: ${message}\n`
export const lines = (from, to) => Array.from({ length: to - from }, (_, i) => line(from + i)).join('')

/** About `size` bytes of log. */
export function large(path, size) {
  const block = lines(0, 20_000)
  const fd = openSync(path, 'w')
  for (let written = 0; written < size; written += block.length) writeSync(fd, block)
  closeSync(fd)
}

/** The service in a cgroup of 256 MiB; null where none can be made. */
export async function confined(flags, options = {}) {
  const wrap = memoryLimit(256 * MB)
  return wrap && serve(flags, { ...options, wrap })
}

export const SKIPPED = {
  tried: 'needs a cgroup',
  count: 0,
  figure: 'skipped: no cgroup can be made here',
  held: true,
}
