import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join, resolve } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { cleanUp, serve, temporaryDirectory } from '../../program.ts'

afterEach(cleanUp)

it('answers again after it ran out of descriptors', async () => {
  const logs = temporaryDirectory()
  writeFileSync(join(logs, 'a.log'), 'one\n')
  const command = 'ulimit -n 64; exec "$0" "$1" --port 0 --log-level off --logs "$2"'
  const child = spawn('sh', ['-c', command, process.execPath, resolve('dist/entry/cli.js'), logs])
  try {
    const [line] = await once(child.stdout.setEncoding('utf8'), 'data')
    const url = /http:\/\/\S+/.exec(line)![0]
    const sockets: Socket[] = []
    for (let i = 0; i < 120; i++)
      sockets.push(connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {}))
    await Promise.race([once(sockets.at(-1)!, 'close'), once(sockets.at(-1)!, 'connect')])
    for (const socket of sockets) socket.destroy()
    const view = () =>
      fetch(`${url}/api/v1/log/view?file=a.log`).then(
        (answer) => answer.text(),
        () => null,
      )
    await expect.poll(view).toBe('one\n')
  } finally {
    child.kill()
    await once(child, 'close')
  }
})

it('keeps a warning of Node apart from answers that were cut', async () => {
  const cwd = temporaryDirectory()
  const preload = join(cwd, 'warn.cjs')
  writeFileSync(
    preload,
    "setTimeout(() => { process.emitWarning('x', 'MaxListenersExceededWarning'); console.error('by the way') }, 200)\n",
  )
  const { stderr } = await serve(['--port=0', '--logs', temporaryDirectory()], {
    cwd,
    env: { NODE_OPTIONS: `--require ${preload}` },
  })
  await expect.poll(stderr).toContain('by the way')
  await expect.poll(stderr).toContain('MaxListenersExceededWarning')
  expect(stderr()).not.toContain('was cut')
})
