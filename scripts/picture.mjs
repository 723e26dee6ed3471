// Makes the moving picture of README.md, and those of docs/first-incident.md, from the page over `nodestate demo`:
//   npm run picture        after a build; needs chromium and ffmpeg
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inFolder, launchChromium } from './chromium.mjs'

const SIZE = { width: 1180, height: 720 }
/** Frames a second of the picture; a step without motion takes one frame, however long it is shown. */
const FPS = 8
const TO = 'docs/screenshots'

const demo = spawn(process.execPath, ['dist/entry/cli.js', 'demo', '--port', '0'], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
const url = await new Promise((found) =>
  demo.stdout.on('data', (data) => found(/http:\/\/\S+/.exec(String(data))[0])),
)
const started = Date.now()
const browser = await launchChromium()
try {
  await inFolder(async (folder) => {
    const frames = join(folder, 'frames')
    mkdirSync(frames)
    const page = await (await browser.newContext({ viewport: SIZE, deviceScaleFactor: 1 })).newPage()
    const list = []
    let pointer = { x: 600, y: 400 }
    /** Takes a frame with a pointer in it, shown for so many seconds. */
    const frame = async (seconds = 1 / FPS) => {
      await page.evaluate(({ x, y }) => {
        const at =
          document.getElementById('pointer') ?? document.body.appendChild(document.createElement('div'))
        at.id = 'pointer'
        at.style.cssText = `position:fixed;z-index:9999;pointer-events:none;left:${x - 9}px;top:${y - 9}px;width:18px;height:18px;border-radius:50%;background:rgba(255,120,0,.45);border:2px solid rgb(255,120,0)`
      }, pointer)
      const name = `${String(list.length).padStart(4, '0')}.png`
      await page.screenshot({ path: join(frames, name) })
      list.push([name, seconds])
    }
    const moveTo = async (x, y, steps = 5) => {
      const from = pointer
      for (let i = 1; i <= steps; i++) {
        pointer = { x: from.x + ((x - from.x) * i) / steps, y: from.y + ((y - from.y) * i) / steps }
        await page.mouse.move(pointer.x, pointer.y)
        await frame()
      }
    }
    const middleOf = async (locator) => {
      const box = await locator.boundingBox()
      return [box.x + box.width / 2, box.y + box.height / 2]
    }
    const press = async (locator) => {
      await locator.waitFor()
      await moveTo(...(await middleOf(locator)), 4)
      await frame(0.4)
      // It may have moved meanwhile.
      await locator.click()
    }
    const still = async (name) => {
      await page.evaluate(() => document.getElementById('pointer')?.remove())
      await page.screenshot({ path: `${TO}/${name}.png` })
    }

    await page.goto(`${url}/#file=storage.log`)
    await page.locator('.row').first().waitFor()
    await page.waitForTimeout(1500)
    await still('incident-1')
    await frame(2.5)

    // The spike begins 47 minutes before the start, and is gone 12 minutes later.
    const range = await (await fetch(`${url}/api/v1/log/histogram?file=storage.log`)).json()
    const chart = await page.locator('.histogram svg').first().boundingBox()
    const at = (minutes) => {
      const time = started - minutes * 60_000
      return chart.x + (chart.width * (time - range.from)) / (range.to - range.from)
    }
    const y = chart.y + chart.height / 2
    await moveTo(at(49), y)
    await page.mouse.down()
    await moveTo(at(36), y, 8)
    await page.mouse.up()
    await page.waitForTimeout(1200)
    await frame(1.5)
    await press(page.getByRole('button', { name: 'What is different?' }).first())
    await page.locator('.findings li').first().waitFor()
    await page.waitForTimeout(500)
    await still('incident-2')
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Save incident' }).click()
    const file = join(folder, 'incident.html')
    await (await saved).saveAs(file)
    await frame(3)
    await moveTo(...(await middleOf(page.locator('.findings li').first())))
    await frame(2)
    await press(page.locator('.findings li').first().locator('a, button').first())
    await page.waitForTimeout(1500)
    await frame(4)

    await page.goto(`${url}/#history=all`)
    await page.waitForTimeout(1500)
    await still('incident-3')

    await page.goto(`file://${file}`)
    await still('incident-4')

    // The picture is made of the frames, each for as long as it is shown.
    const concat = list
      .map(([name, seconds]) => `file '${join(frames, name)}'\nduration ${seconds}`)
      .join('\n')
    writeFileSync(join(folder, 'list.txt'), `${concat}\nfile '${join(frames, list.at(-1)[0])}'\n`)
    const to = `${TO}/demo.webp`
    const args = ['-y', '-loglevel', 'error', '-f', 'concat', '-safe', '0', '-i', join(folder, 'list.txt')]
    const made = spawnSync(
      'ffmpeg',
      [...args, '-vsync', 'vfr', '-c:v', 'libwebp_anim', '-loop', '0', '-q:v', '70', to],
      { encoding: 'utf8' },
    )
    if (made.status !== 0) throw new Error(made.stderr)
    console.log(
      `${to}: ${statSync(to).size} bytes, ${list.reduce((sum, [, seconds]) => sum + seconds, 0).toFixed(1)} s`,
    )
  })
} finally {
  await browser.close()
  demo.kill()
}
