import { join } from 'node:path'
import { findPart, partsFolder } from '../parts/parts.mjs'
import { start } from './child.ts'

/** Miniflare in a child process on the newer Node: R2, its S3 endpoint, and a worker in workerd. */
export interface Flare {
  /** The worker's own address. */
  url: string
  /** The S3 endpoint; the bucket's name follows in the path. */
  s3: string
  bucket: string
  accessKeyId: string
  secretAccessKey: string
  stop(): Promise<void>
}

/** Starts Miniflare with one bucket, and with a worker: `main` is bundled first, `folder` holds a bundled one. */
export async function startMiniflare(
  options: { main?: string; folder?: string; bindings?: object } = {},
): Promise<Flare> {
  const keys = { bucket: 'logs', accessKeyId: 'test-key', secretAccessKey: 'test-secret' }
  const node = findPart('node')
  if (node === null) throw new Error('The newer Node is not installed: run npm run test:all')
  const script = join(partsFolder, 'miniflare.mjs')
  const env = {
    ...process.env,
    NODE_OPTIONS: '',
    WRANGLER_SEND_METRICS: 'false',
    CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  }
  const running = await start(node, [script, JSON.stringify({ ...keys, ...options })], {
    env,
    byStdin: true,
    isReady: (line) => line.startsWith('{'),
  })
  return { ...(JSON.parse(running.line) as { url: string; s3: string }), ...keys, stop: running.stop }
}

/** Where its bucket is, as the options of a store. */
export function placeOf({ bucket, accessKeyId, secretAccessKey, s3 }: Flare) {
  return { bucket, accessKeyId, secretAccessKey, endpoint: s3 }
}
