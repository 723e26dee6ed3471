// How quickly the page shows a log, in a real Chromium: npm run bench:page
//
//   first lines   from the click on a log of 1 GiB to its newest lines on the screen
//   scrolling     frames while the wheel turns through 100,000 records, the most that are loaded
//   following     frames while 2,000 lines a second arrive
import { appendFileSync, closeSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { inFolder, launchChromium, startService } from '../scripts/chromium.mjs'

const ROUNDS = 5
const MOST = 100_000
/** Records of one hour in the generated logs. */
const PER_BLOCK = 25_000

await inFolder(async (folder) => {
  const blocks = Math.ceil(1024 ** 3 / write(join(folder, 'huge.log'), 1))
  write(join(folder, 'huge.log'), blocks)
  write(join(folder, 'long.log'), MOST / PER_BLOCK)
  const service = await startService(folder)
  const browser = await launchChromium()
  try {
    const open = async (look) => {
      const context = await browser.newContext({ viewport: { width: 1360, height: 820 } })
      const page = await context.newPage()
      await page.goto(`${service.url}/${look}`)
      return { page, close: () => context.close() }
    }
    const first = []
    for (let round = 0; round < ROUNDS; round++) {
      const { page, close } = await open('')
      await page.locator('.files a').filter({ hasText: 'huge.log' }).waitFor()
      first.push(
        await page.evaluate(async () => {
          const entry = [...document.querySelectorAll('.files a')].find((each) => each.title === 'huge.log')
          const start = performance.now()
          entry.click()
          while (document.querySelector('.row') === null) await new Promise(requestAnimationFrame)
          await new Promise(requestAnimationFrame)
          return performance.now() - start
        }),
      )
      await close()
    }
    const { page, close } = await open('#file=long.log')
    await page.locator('.row').first().waitFor()
    const loading = Date.now()
    await page.evaluate(async (goal) => {
      const count = () => {
        const said = document.querySelector('footer [role=status]').textContent
        return Number(/^[\d,]+/.exec(said)?.[0].replaceAll(',', '') ?? 0)
      }
      const list = document.querySelector('.list')
      while (count() < goal) {
        list.scrollTop = 0
        await new Promise(requestAnimationFrame)
      }
    }, MOST)
    const loaded = Date.now() - loading
    const frames = await page.evaluate(async () => {
      const list = document.querySelector('.list')
      const times = []
      let last = performance.now()
      // Half with the pace of a wheel, half in leaps of the scrollbar.
      for (let i = 0; i < 600; i++) {
        list.scrollTop += i < 300 ? 160 : list.scrollHeight / 330
        await new Promise(requestAnimationFrame)
        const now = performance.now()
        times.push(now - last)
        last = now
      }
      return times
    })
    await close()
    const followed = await follow(open, join(folder, 'followed.log'))
    const sorted = (list) => [...list].sort((a, b) => a - b)
    const at = (list, share) => sorted(list)[Math.min(list.length - 1, Math.floor(list.length * share))]
    const ms = (value) => `${value.toFixed(value < 100 ? 1 : 0)} ms`
    console.log(`first lines of 1 GiB    median ${ms(at(first, 0.5))}, worst ${ms(Math.max(...first))}`)
    console.log(`loading 100,000         ${(loaded / 1000).toFixed(1)} s, page by page`)
    console.log(
      `frames over 100,000     median ${ms(at(frames, 0.5))}, p95 ${ms(at(frames, 0.95))}, worst ${ms(Math.max(...frames))}, ` +
        `${frames.filter((each) => each > 34).length} of ${frames.length} over 34 ms`,
    )
    console.log(
      `following 2,000/s       median ${ms(at(followed, 0.5))}, p95 ${ms(at(followed, 0.95))}, worst ${ms(Math.max(...followed))}, ` +
        `${((followed.length * 1000) / followed.reduce((a, b) => a + b, 0)).toFixed(0)} frames/s`,
    )
  } finally {
    await browser.close()
    service.stop()
  }
})

/** The times of the frames of ten seconds in which 2,000 lines a second are appended. */
async function follow(open, path) {
  const line = (i) =>
    `${new Date(Date.now()).toISOString().replace('T', ' ').replace('Z', '')}\tINFO\ttsdb/family.go:312\t[Storage] [Family]: record ${i} written\t{"cost":"${i % 900}ms"}\n`
  writeFileSync(path, line(0))
  const { page, close } = await open('#file=followed.log&follow=true')
  await page.locator('.follow.live').waitFor()
  let count = 0
  const writer = setInterval(() => {
    let text = ''
    for (let i = 0; i < 100; i++) text += line(++count)
    appendFileSync(path, text)
  }, 50)
  const frames = await page.evaluate(async () => {
    const times = []
    const start = performance.now()
    for (let last = start; last - start < 10_000; ) {
      const now = await new Promise(requestAnimationFrame)
      times.push(now - last)
      last = now
    }
    return times.slice(1)
  })
  clearInterval(writer)
  await close()
  return frames
}

/** Writes this many blocks of an hour; returns the bytes of one. */
function write(path, blocks) {
  const start = Date.UTC(2026, 0, 10)
  const stamp = (ms) => new Date(ms).toISOString().replace('T', ' ').replace('Z', '')
  const lines = Array.from({ length: PER_BLOCK }, (_, i) => {
    const level = i % 100 === 99 ? 'WARN' : 'INFO'
    return `${stamp(start + i * 140)}\t${level}\ttsdb/family.go:312\t[Storage] [Family]: flush memory database successfully\t{"family":"20260110","cost":"${i % 900}ms"}\n`
  })
  const bytes = Buffer.from(lines.join(''))
  const starts = []
  for (let offset = 0, i = 0; i < lines.length; offset += lines[i++].length) starts.push(offset)
  const file = openSync(path, 'w')
  for (let block = 0; block < blocks; block++) {
    const head = Buffer.from(stamp(start + block * 3_600_000).slice(0, 13))
    for (const at of starts) head.copy(bytes, at)
    writeSync(file, bytes)
  }
  closeSync(file)
  return bytes.length
}
