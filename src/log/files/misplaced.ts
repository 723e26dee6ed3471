import type { Entry, Store } from '../../store/store.ts'
import { LogError } from '../error.ts'

/** What is in every home of a node, besides its logs. */
const IN_HOME = new Set(['node.json', 'config.toml', 'ship.json'])
const LOGS_OF_HOME = new Set(['logs/', 'segments/'])
/** How many folders are looked into before they count as something else. */
const MOST_FOLDERS = 3

/**
 * Refuses the root of a home or of a fleet that was opened as logs: its list would be empty, or would show the
 * configuration unmasked. `folders` are those beside the listed `entries`. It costs a listing of at most three folders, and
 * only where there is no log.
 */
export async function refuseHomes(
  store: Store,
  entries: readonly Entry[],
  folders: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  if (entries.some(({ key }) => !IN_HOME.has(key))) return
  if (isHome(entries, folders))
    throw new LogError(
      'not-configured',
      'This is the home of a node, not its logs: open its folder "logs" instead (as the prefix of the store), or serve the whole home with --home.',
    )
  for (const folder of folders.slice(0, MOST_FOLDERS)) {
    const inside = { entries: [] as Entry[], folders: [] as string[] }
    for await (const entry of store.list(folder, { signal, shallow: true, folders: true, limit: 20 })) {
      const key = entry.key.slice(folder.length)
      if (entry.folder) inside.folders.push(key)
      else inside.entries.push({ ...entry, key })
    }
    if (isHome(inside.entries, inside.folders))
      throw new LogError(
        'not-configured',
        'These are the homes of several nodes, not logs: open the folder "logs" of one (prefix "NODE/logs"), or serve all of them with --fleet or createFleet.',
      )
  }
}

function isHome(entries: readonly Entry[], folders: readonly string[]): boolean {
  const hasLogs = folders.some((folder) => LOGS_OF_HOME.has(folder))
  return hasLogs || (entries.length > 1 && entries.some(({ key }) => key === 'node.json'))
}
