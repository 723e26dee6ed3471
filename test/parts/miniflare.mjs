// Runs Miniflare until stdin closes. Needs Node 22 or newer, which the tests themselves do not.
//   node miniflare.mjs '{"main": "worker.ts", "bucket": "name", "accessKeyId": "…", "secretAccessKey": "…"}'
// Instead of `main`, which is bundled, `folder` names a folder with a bundled worker.js and its modules.
// Prints {"url": …, "s3": …} as one line of JSON.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { Log, LogLevel, Miniflare } from 'miniflare'

const { main, folder, bucket, accessKeyId, secretAccessKey, bindings = {} } = JSON.parse(process.argv[2])
const bundled = main
  ? await build({
      entryPoints: [main],
      bundle: true,
      format: 'esm',
      target: 'es2023',
      write: false,
      conditions: ['workerd', 'worker', 'browser'],
    })
  : null
const script = bundled ? bundled.outputFiles[0].text : 'export default { fetch: () => new Response(null) }'
const miniflare = new Miniflare({
  host: '127.0.0.1',
  port: 0,
  cf: false,
  log: new Log(LogLevel.ERROR),
  compatibilityDate: '2026-04-01',
  // Without contents, Miniflare would look for the optional package that a worker imports when it is asked for MCP.
  modules: folder ? modulesIn(folder) : [{ type: 'ESModule', path: 'worker.js', contents: script }],
  bindings,
  r2Buckets: { BUCKET: { id: bucket, s3Credentials: { accessKeyId, secretAccessKey } } },
  r2Persist: false,
})
const url = (await miniflare.ready).href
console.log(JSON.stringify({ url, s3: new URL('cdn-cgi/local/r2/s3', url).href }))
process.stdin.resume()
process.stdin.on('end', () => miniflare.dispose().finally(() => process.exit(0)))

/** The entry first, then the modules that it loads when they are needed. */
function modulesIn(folder) {
  const names = readdirSync(folder).sort((a, b) => Number(b === 'worker.js') - Number(a === 'worker.js'))
  return names.map((name) => ({ type: 'ESModule', path: join(folder, name) }))
}
