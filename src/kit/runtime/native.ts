import { readdirSync, readFileSync } from 'node:fs'
import { hostname, networkInterfaces } from 'node:os'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import process from 'node:process'
import { pickAddress } from '../../core/node/identity.ts'
import type { ProcessFacts, Runtime } from './runtime.ts'

const NANOSECONDS = 1e9
const PERCENTILES = [50, 90, 99, 100]

/** Node, Bun or Deno on a machine. What the system or permissions do not allow is left out. */
export const runtime: Runtime = {
  name: ['bun', 'deno'].find((name) => name in process.versions) ?? 'node',
  host: () => ({
    hostName: attempt(hostname) ?? undefined,
    hostIp: attempt(() => pickAddress(networkInterfaces())) ?? undefined,
  }),
  process: processFacts,
}

function processFacts(): ProcessFacts {
  const delay = attempt(() => {
    const histogram = monitorEventLoopDelay({ resolution: 10 })
    histogram.enable()
    return histogram
  })
  return {
    started: (Date.now() - process.uptime() * 1000) / 1000,
    residentBytes: () => attempt(() => process.memoryUsage.rss()),
    cpuSeconds: () =>
      attempt(() => {
        const { user, system } = process.cpuUsage()
        return (user + system) / 1e6
      }),
    // One of them is this check itself.
    openDescriptors: () => attempt(() => readdirSync('/proc/self/fd').length - 1),
    maxDescriptors: () =>
      attempt(() => {
        const line = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'))
        return line && line[1] !== 'unlimited' ? Number(line[1]) : null
      }),
    eventLoopDelay: () =>
      attempt(() => {
        if (delay === null || delay.count === 0) return null
        const delays = PERCENTILES.map((percentile) => ({
          percentile,
          seconds: delay.percentile(percentile) / NANOSECONDS,
        }))
        delay.reset()
        return delays
      }),
  }
}

function attempt<T>(read: () => T): T | null {
  try {
    return read()
  } catch {
    return null
  }
}
