// What the scripts that need a browser share: Chromium from the system, Playwright from the parts of the tests, and a
// running service of this build.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The first is the same browser without windows and menus. */
const BROWSERS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/google-chrome']

/** A browser without a window. */
export async function launchChromium() {
  const executablePath = [process.env.CHROMIUM, ...BROWSERS].find((path) => path && existsSync(path))
  if (!executablePath) throw new Error('Cannot find chromium: install it, or name its path in CHROMIUM')
  const require = createRequire(join(root, 'test/parts/package.json'))
  const { chromium } = require('playwright-core')
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync']
  return chromium.launch({
    executablePath,
    args: [...args, '--disable-background-networking', '--disable-component-update'],
  })
}

/** The service of this build over a folder; its address, and how to end it. */
export async function startService(logs, args = []) {
  const child = spawn(
    process.execPath,
    [join(root, 'dist/entry/cli.js'), 'serve', '--port', '0', '--logs', logs, ...args],
    {
      env: { ...process.env, TZ: 'UTC' },
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
  const url = await new Promise((found, failed) => {
    let text = ''
    child.stdout.on('data', (data) => {
      text += data
      const match = /https?:\/\/\S+/.exec(text)
      if (match && text.includes('\n')) found(match[0])
    })
    child.once('exit', (code) => failed(new Error(`the service ended with ${code}`)))
  })
  return { url, stop: () => child.kill() }
}

/** An empty folder for the time of `work`. */
export async function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), 'nodestate-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
