import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { PartName } from '../parts/parts.mjs'
import { bucketWriter } from '../support/bucket.ts'
import { type Running, start } from '../support/child.ts'
import { placeOf, startMiniflare } from '../support/miniflare.ts'
import { part } from '../support/parts.ts'
import { HOME, writeHome } from './fixture.ts'

/** A runtime over a store. */
export interface Cell {
  runtime: string
  store: 'directory' | 'S3' | 'R2' | 'peer'
  needs: PartName[]
  start(ground: Ground): Promise<{ url: string; stop(): Promise<void> }>
}

/** Where the same home lies, as a directory and as a bucket. */
export interface Ground {
  directory: string
  bucket: { endpoint: string; env: Record<string, string>; location: string }
  /** The worker in front of the R2 binding of that very bucket. */
  worker: string
  stop(): Promise<void>
}

const root = resolve(import.meta.dirname, '../..')
const isWelcome = (line: string) => line.includes(' listens on http')

/** Fills a directory and a bucket with the same home, and puts the worker on the bucket. */
export async function prepareGround(): Promise<Ground> {
  const directory = mkdtempSync(join(tmpdir(), 'nodestate-conformance-'))
  writeHome(directory)
  const bindings = { NODESTATE_HOME: 'nodes/db-4', NODESTATE_INSECURE: '1', NODESTATE_MCP: '1' }
  const flare = await startMiniflare({ folder: join(root, 'dist/worker'), bindings })
  const writer = bucketWriter(placeOf(flare))
  for (const [key, bytes] of Object.entries(HOME)) await writer.put(`nodes/db-4/${key}`, bytes)
  return {
    directory,
    bucket: {
      endpoint: flare.s3,
      location: `s3://${flare.bucket}/nodes/db-4`,
      env: {
        AWS_ENDPOINT_URL: flare.s3,
        AWS_ACCESS_KEY_ID: flare.accessKeyId,
        AWS_SECRET_ACCESS_KEY: flare.secretAccessKey,
      },
    },
    worker: flare.url.replace(/\/$/, ''),
    async stop() {
      await flare.stop()
      rmSync(directory, { recursive: true })
    },
  }
}

const PROGRAMS: { runtime: string; needs: PartName[]; command: () => string[] }[] = [
  {
    runtime: `Node ${process.versions.node.split('.')[0]}`,
    needs: [],
    command: () => [process.execPath, 'dist/entry/cli.js'],
  },
  { runtime: 'Node, newest', needs: ['node'], command: () => [part('node').path!, 'dist/entry/cli.js'] },
  { runtime: 'Bun', needs: ['bun'], command: () => [process.execPath, 'scripts/serve.mjs', 'bun'] },
  { runtime: 'Deno', needs: ['deno'], command: () => [process.execPath, 'scripts/serve.mjs', 'deno'] },
]

/** The matrix. A worker has no directories and no peers, and only a worker has an R2 binding. */
export const CELLS: Cell[] = [
  ...PROGRAMS.flatMap(({ runtime, needs, command }): Cell[] => [
    { runtime, store: 'directory', needs, start: ({ directory }) => launch(command(), directory, {}) },
    { runtime, store: 'S3', needs, start: ({ bucket }) => launch(command(), bucket.location, bucket.env) },
    { runtime, store: 'peer', needs, start: ({ directory }) => launchPeer(command(), directory) },
  ]),
  {
    runtime: 'workerd',
    store: 'S3',
    needs: ['wrangler', 'workerd', 'node'],
    start: ({ bucket }) =>
      launch([process.execPath, 'scripts/serve.mjs', 'worker'], bucket.location, bucket.env),
  },
  {
    runtime: 'workerd',
    store: 'R2',
    needs: ['miniflare', 'workerd', 'node'],
    start: async ({ worker }) => ({ url: worker, stop: async () => {} }),
  },
]

/** A coordinator in front of a node. It has a pattern of its own, so that it reads the store of the node itself. */
async function launchPeer(command: string[], directory: string) {
  const node = await launch(command, directory, {})
  const flags = ['--peer', `db-4=${node.url}`, '--include', '*']
  const coordinator = await launchWith(command, flags, {})
  const stop = async () => {
    await coordinator.stop()
    await node.stop()
  }
  return { url: `${coordinator.url.replace(/\/$/, '')}/nodes/db-4`, stop }
}

function launch(command: string[], home: string, env: Record<string, string>) {
  return launchWith(command, ['--home', home], env)
}

async function launchWith(command: string[], flags: string[], env: Record<string, string>) {
  const [program, ...args] = command as [string, ...string[]]
  const clean = Object.entries(process.env).filter(([name]) => !/^(NODESTATE|AWS)_/.test(name))
  const running: Running = await start(
    program,
    [...args, ...flags, '--port', '0', '--log-level', 'error', '--mcp'],
    {
      cwd: root,
      env: { ...Object.fromEntries(clean), ...env },
      isReady: isWelcome,
    },
  )
  return { url: /http:\/\/\S+/.exec(running.line)![0], stop: running.stop }
}
