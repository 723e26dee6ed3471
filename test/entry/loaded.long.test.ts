import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { cleanUp, serve, temporaryDirectory } from '../program.ts'

afterEach(cleanUp)

/** Waits until a process has read nothing for two seconds. */
async function hasReadAll(pid: number): Promise<void> {
  const read = () => /^rchar: \d+/.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))![0]
  let before = ''
  for (let quiet = 0; quiet < 20; ) {
    const now = read()
    quiet = now === before ? quiet + 1 : 0
    before = now
    await sleep(100)
  }
}

it('reads none of its files once it has started: they may be replaced, or no descriptor be left', async () => {
  const place = temporaryDirectory()
  const logs = join(place, 'logs')
  mkdirSync(logs)
  writeFileSync(join(logs, 'a.log'), 'one\ntwo\n')
  cpSync(resolve('dist'), join(place, 'dist'), { recursive: true })
  cpSync(resolve('package.json'), join(place, 'package.json'))
  symlinkSync(resolve('node_modules'), join(place, 'node_modules'))
  const { url, child } = await serve(['--port=0', '--logs', logs, '--loki'], {
    cli: join(place, 'dist/entry/cli.js'),
  })
  await hasReadAll(child.pid!)
  for (const name of readdirSync(join(place, 'dist'), { recursive: true, encoding: 'utf8' }))
    if (name.endsWith('.js')) writeFileSync(join(place, 'dist', name), 'throw new Error("another version")')
  const view = '/api/v1/log/view?file=a.log'
  const download = '/api/v1/log/download?file=a.log'
  const paths = [
    ...[
      download,
      `${view}&q=one`,
      `${view}&regex=on.`,
      `${view}&download=true`,
      `${view}&q=one&download=true`,
    ],
    ...['/api/v1/log/groups?file=a.log&by=x&where=x~y', `${view}&pattern=one`],
    ...['/api/v1/log/fields?file=a.log', '/api/v1/log/list?detail=true', '/api/v1/config', '/'],
    ...['/api/v1/config/history', '/api/v1/config?at=now'],
    ...['/loki/api/v1/labels', '/openapi.json', '/metrics', '/readyz'],
  ]
  for (const path of paths) expect([path, (await fetch(url + path)).status]).toEqual([path, 200])
})

it('has the service loaded only where it serves: other commands start without it', () => {
  const report = temporaryDirectory()
  execFileSync(process.execPath, ['dist/entry/cli.js', 'completion', 'bash'], {
    env: { ...process.env, NODE_V8_COVERAGE: report },
  })
  const [name] = readdirSync(report)
  const { result } = JSON.parse(readFileSync(join(report, name!), 'utf8')) as { result: { url: string }[] }
  const loaded = result.map(({ url }) => url).filter((url) => url.startsWith('file:'))
  expect(loaded.filter((url) => url.endsWith('/dist/doors/terminal/completion.js'))).toHaveLength(1)
  expect(
    loaded.filter((url) => /node_modules|\/dist\/(app|fleet|routes|store|log\/format)/.test(url)),
  ).toEqual([])
})
