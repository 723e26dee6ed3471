import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'

const ASSUMED = 2 * 1024 ** 3

/** Reads a system file as text; null if it does not exist. */
type ReadText = (path: string) => string | null

/** The memory that this process may use, in bytes: the smallest limit of its cgroups, otherwise the machine's memory. */
export function memoryLimit(read: ReadText = readText, machine: number = machineMemory()): number {
  const limits = (read('/proc/self/cgroup') ?? '').split('\n').flatMap((line) => {
    const [, controllers = '', path = '/'] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
    if (controllers === '') return limitsOf(read, '/sys/fs/cgroup', path, 'memory.max')
    if (controllers.split(',').includes('memory'))
      return limitsOf(read, '/sys/fs/cgroup/memory', path, 'memory.limit_in_bytes')
    return []
  })
  return Math.min(machine, ...limits)
}

/** Deno reports it only with the permission `--allow-sys=systemMemoryInfo`; without it, a small machine is assumed. */
function machineMemory(): number {
  try {
    return totalmem()
  } catch {
    return ASSUMED
  }
}

/** The limits of a cgroup and of those around it. In a container, its own cgroup is the root of what it sees. */
function limitsOf(read: ReadText, root: string, path: string, file: string): number[] {
  const limits: number[] = []
  const parts = path.split('/').filter((part) => part !== '')
  for (let depth = parts.length; depth >= 0; depth--) {
    const text = read(join(root, ...parts.slice(0, depth), file))?.trim()
    // `max` in version 2, and a number beyond any machine in version 1, mean that there is no limit.
    if (text && /^\d+$/.test(text)) limits.push(Number(text))
  }
  return limits
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
