import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { cleanUp, launch, type Program, serve, temporaryDirectory } from '../../program.ts'

afterEach(cleanUp)

/** The processes below one, as the system knows them. */
function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return (
          Number(
            readFileSync(`/proc/${name}/stat`, 'utf8')
              .replace(/^.*\) /s, '')
              .split(' ')[1],
          ) === pid
        )
      } catch {
        return false
      }
    })
    .map(Number)
}
const workersOf = ({ child }: Pick<Program, 'child'>) => childrenOf(child.pid!)

const isAlive = (pid: number) => {
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

async function start(...flags: string[]) {
  const logs = temporaryDirectory()
  writeFileSync(join(logs, 'a.log'), 'one\ntwo\n')
  return serve(['--port=0', '--logs', logs, '--workers=2', '--log-level=error', ...flags])
}

/** Without keep-alive, so that every request may come to another process. */
const answer = async (url: string, path = '/api/v1/log/view?file=a.log') => {
  const response = await fetch(url + path, { headers: { Connection: 'close' } })
  return { status: response.status, text: await response.text(), etag: response.headers.get('ETag') }
}

describe('--workers', () => {
  it('serves with several processes on one port, and says so once', async () => {
    const program = await start()
    expect(workersOf(program)).toHaveLength(2)
    for (let i = 0; i < 20; i++)
      expect(await answer(program.url)).toMatchObject({ status: 200, text: 'one\ntwo\n' })
    expect(program.stdout().match(/listens on/g)).toHaveLength(1)
    expect(program.stderr()).toBe('')
  })

  it('is one service: the same node, whichever process answers', async () => {
    const program = await start()
    const answers = await Promise.all(Array.from({ length: 20 }, () => answer(program.url, '/api/v1/config')))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(new Set(answers.map(({ etag }) => etag)).size).toBe(1)
  })

  it('stops all of them on SIGTERM, and exits with 0', async () => {
    const program = await start()
    const workers = workersOf(program)
    // A connection that stays open does not hold up the end.
    const socket = connect(Number(new URL(program.url).port), '127.0.0.1')
    let received = ''
    socket.on('data', (data) => {
      received += data
    })
    socket.write('GET /api/v1/log/view?file=a.log HTTP/1.1\r\nHost: x\r\n\r\n')
    await expect.poll(() => received).toContain('two\n')
    program.child.kill('SIGTERM')
    expect(await program.exited).toBe(0)
    expect(workers.filter(isAlive)).toEqual([])
    await expect(answer(program.url)).rejects.toThrow()
    socket.destroy()
  })

  it('starts a worker again that died, and goes on answering meanwhile', async () => {
    const program = await start()
    const [first] = workersOf(program)
    process.kill(first!, 'SIGKILL')
    for (let i = 0; i < 10; i++) {
      const { text } = await answer(program.url).catch(() => answer(program.url))
      expect(text).toBe('one\ntwo\n')
    }
    await expect.poll(() => workersOf(program).filter((pid) => pid !== first)).toHaveLength(2)
    await expect.poll(program.stderr).toContain('[Server] [Workers]: A worker ended (SIGKILL)')
    program.child.kill('SIGTERM')
    expect(await program.exited).toBe(0)
  })

  it('gives up with exit code 1 when workers die again and again', async () => {
    const program = await start()
    let ended = false
    void program.exited.then(() => {
      ended = true
    })
    while (!ended) {
      for (const pid of workersOf(program)) {
        try {
          process.kill(pid, 'SIGKILL')
        } catch {}
      }
      await sleep(50)
    }
    expect(await program.exited).toBe(1)
    expect(program.stderr()).toContain('keep dying')
  })

  it('leaves no worker behind when the first process is killed', async () => {
    const program = await start()
    const workers = workersOf(program)
    program.child.kill('SIGKILL')
    await program.exited
    await expect.poll(() => workers.filter(isAlive)).toEqual([])
  })

  it('tells what a worker cannot do as one process would, and exits with 1', async () => {
    const program = await start()
    const { port } = new URL(program.url)
    const second = launch([`--port=${port}`, '--logs', temporaryDirectory(), '--workers=2'])
    expect(await second.exited).toBe(1)
    expect(second.stderr()).toMatch(/^nodestate: Cannot listen on "127\.0\.0\.1:\d+": the port is in use/m)
    expect(second.stdout()).toBe('')
  })

  it('refuses a bad configuration before any worker starts', async () => {
    const program = launch(['--port=0', '--workers=2', '--config', '/nonexistent/broker.toml'])
    expect(await program.exited).toBe(1)
    expect(program.stderr()).toContain('Cannot read --config')
  })
})
