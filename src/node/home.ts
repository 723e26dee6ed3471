import type { Store } from '../store/store.ts'
import type { NodeInfo } from './identity.ts'

/** The contents of a home besides its logs, read for each request. */
export interface Home {
  /** The text of `config.toml`, not yet masked. */
  config(): Promise<string>
  /** The node object of `node.json`. */
  node(): Promise<NodeInfo>
}

/** An object of a home is missing (`missing-object`) or invalid (`bad-object`). */
export class HomeError extends Error {
  readonly code: 'missing-object' | 'bad-object'

  constructor(code: HomeError['code'], message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'HomeError'
    this.code = code
  }
}

/** The folder of a home that holds its logs. */
export const HOME_LOGS = 'logs'

const LARGEST = 16 * 1024 * 1024

/** Opens a node's home: `node.json` and `config.toml` in `store`. Its `logs/` are opened as a separate store. */
export function openHome(store: Store): Home {
  return {
    config: () => readText(store, 'config.toml', "the node's configuration as TOML"),
    async node() {
      const text = await readText(store, 'node.json', 'the node object as JSON')
      // Only the configuration needs it; a list and a tail do not.
      const { parseNode } = await import('./identity.ts')
      try {
        return parseNode(text)
      } catch (cause) {
        const why = cause instanceof Error ? cause.message.replace(/^.*?: /, '') : 'it cannot be read.'
        throw new HomeError('bad-object', `The object "node.json" of the node's home is not valid: ${why}`, {
          cause,
        })
      }
    },
  }
}

async function readText(store: Store, key: string, what: string): Promise<string> {
  const read = await store.read(key, { offset: 0, length: LARGEST })
  if (read === null)
    throw new HomeError('missing-object', `The node's home has no "${key}"; put ${what} there.`)
  if (read.length < read.entry.size)
    throw new HomeError('bad-object', `The object "${key}" of the node's home is larger than 16 MiB.`)
  return new Response(read.body).text()
}
