import type { NodeInfo } from '../../kit/answers.ts'
import { readText, type Store } from '../../store/store.ts'

/** The contents of a home besides its logs, read for each request. */
export interface Home {
  /** The text of `config.toml`, not yet masked. */
  config(): Promise<string>
  /** The node object of `node.json`. */
  node(): Promise<NodeInfo>
  /** The home itself, whose `configs/` holds earlier versions of the configuration. */
  versions: Store
}

/** An object of a home is missing (`missing-object`) or invalid (`bad-object`), or the configuration is too large. */
export class HomeError extends Error {
  readonly code: 'missing-object' | 'bad-object' | 'config-too-large'

  constructor(code: HomeError['code'], message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'HomeError'
    this.code = code
  }
}

export const HOME_LOGS = 'logs'

const MIB = 1024 * 1024
/** A larger configuration is not read: it would be parsed and masked before it is shown. */
export const LARGEST_CONFIG = MIB
/** A larger node.json is not read. */
export const LARGEST_NODE = MIB

/** Opens a home: `node.json` and `config.toml` in `store`, `configs/` in `nested`, which must show subfolders. */
export function openHome(store: Store, nested: Store = store): Home {
  return {
    versions: nested,
    async config() {
      const text = await textOf(store, 'config.toml', LARGEST_CONFIG, "the node's configuration as TOML")
      if (text === null) throw configTooLarge()
      return text
    },
    async node() {
      const text = await textOf(store, 'node.json', LARGEST_NODE, 'the node object as JSON')
      if (text === null)
        throw new HomeError('bad-object', 'The object "node.json" of the node\'s home is larger than 1 MiB.')
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

export function configTooLarge(): HomeError {
  return new HomeError(
    'config-too-large',
    'The configuration has more than 1 MiB, the most that is parsed and masked; read it on the node, or move data out of it.',
  )
}

/** The text of an object; null if it is too large. */
async function textOf(store: Store, key: string, largest: number, what: string): Promise<string | null> {
  const read = await readText(store, key, largest)
  if (read !== null) return read.text
  throw new HomeError('missing-object', `The node's home has no "${key}"; put ${what} there.`)
}
