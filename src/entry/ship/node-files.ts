import { readFile, stat } from 'node:fs/promises'
import { hostname, networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { createConfigReader } from '../../core/node/config.ts'
import { configTooLarge, LARGEST_CONFIG } from '../../core/node/home.ts'
import { describeNode, parseNode, pickAddress } from '../../core/node/identity.ts'
import type { NodeInfo } from '../../kit/answers.ts'
import { VERSION } from '../../kit/version.ts'
import type { NodeFiles } from '../../ship/home/node-files.ts'
import { nodeFields } from '../settings/node.ts'
import type { ShipSettings } from '../settings/ship.ts'

/** node.json and the masked config.toml of a node: those of its home, or made from the settings. */
export function nodeFilesOf(settings: ShipSettings): NodeFiles {
  const file = settings.config ?? (settings.home === null ? null : join(settings.home, 'config.toml'))
  const reader = file === null ? null : createConfigReader(() => readConfig(file))
  const optional = settings.config === null
  const config = async () => {
    try {
      return (await reader?.read()) ?? null
    } catch (error) {
      if (optional && (error as { code?: unknown }).code === 'ENOENT') return null
      throw error
    }
  }
  const set = nodeFields(settings)
  const facts = {
    hostIp: pickAddress(networkInterfaces()) ?? undefined,
    hostName: hostname(),
    version: VERSION,
    onlineTime: Date.now(),
  }
  return {
    async config() {
      return (await config())?.text ?? null
    },
    async node() {
      const data = (await config().catch(() => null))?.data ?? {}
      const kept = settings.home === null ? null : await readNode(join(settings.home, 'node.json'))
      return { ...(kept ?? describeNode(set, facts, data)), ...set }
    },
  }
}

async function readConfig(path: string): Promise<string> {
  if ((await stat(path)).size > LARGEST_CONFIG) throw configTooLarge()
  return readFile(path, 'utf8')
}

async function readNode(path: string): Promise<NodeInfo | null> {
  try {
    return parseNode(await readFile(path, 'utf8'))
  } catch {
    return null
  }
}
