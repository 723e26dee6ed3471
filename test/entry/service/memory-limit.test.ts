import { describe, expect, it } from 'vitest'
import { memoryLimit } from '../../../src/entry/service/memory-limit.ts'

const MIB = 2 ** 20
const system = (files: Record<string, string>) => (path: string) => files[path] ?? null

describe('memoryLimit', () => {
  it('is that of the cgroup, version 2: its own or the smallest around it', () => {
    const files = {
      '/proc/self/cgroup': '0::/pod/container\n',
      '/sys/fs/cgroup/pod/container/memory.max': 'max\n',
      '/sys/fs/cgroup/pod/memory.max': `${256 * MIB}\n`,
    }
    expect(memoryLimit(system(files), 8192 * MIB)).toBe(256 * MIB)
    expect(memoryLimit(system({ ...files, '/sys/fs/cgroup/memory.max': `${64 * MIB}` }), 8192 * MIB)).toBe(
      64 * MIB,
    )
  })

  it('in a container, whose cgroup is the root of what it sees', () => {
    const files = { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/memory.max': `${256 * MIB}\n` }
    expect(memoryLimit(system(files), 8192 * MIB)).toBe(256 * MIB)
    const nested = { ...files, '/proc/self/cgroup': '0::/kubepods/pod1/c2\n' }
    expect(memoryLimit(system(nested), 8192 * MIB)).toBe(256 * MIB)
  })

  it('is that of the cgroup, version 1', () => {
    const files = {
      '/proc/self/cgroup': '5:cpu,cpuacct:/\n4:memory:/docker/1\n1:name=systemd:/x\n',
      '/sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes': `${128 * MIB}\n`,
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712\n',
    }
    expect(memoryLimit(system(files), 8192 * MIB)).toBe(128 * MIB)
  })

  it("is the machine's memory where nothing limits it", () => {
    expect(memoryLimit(system({}), 8192 * MIB)).toBe(8192 * MIB)
    const unlimited = {
      '/proc/self/cgroup': '4:memory:/\n',
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712\n',
    }
    expect(memoryLimit(system(unlimited), 8192 * MIB)).toBe(8192 * MIB)
  })

  it('is found on this machine', () => {
    expect(memoryLimit()).toBeGreaterThan(MIB)
  })
})
