// Makes the pictures in docs/screenshots from a made-up incident: npm run screenshots
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inFolder, launchChromium, startService } from './chromium.mjs'

const CONFIG = `## Where the cluster keeps its state.
[coordinator]
namespace = "/lindb-cluster"
endpoints = ["http://etcd-0.db:2379", "http://etcd-1.db:2379"]
username = "lindb"
password = "not shown"
lease-ttl = "10s"

## How much a query may take.
[query]
query-concurrency = 1024
idle-timeout = "5s"
timeout = "30s"

[storage.http]
port = 2892
idle-timeout = "2m0s"

[storage.grpc]
port = 2891
max-concurrent-streams = 1024

[storage.wal]
dir = "/data/wal"
page-size = "128MiB"
remove-task-interval = "1m0s"

[storage.tsdb]
dir = "/data/tsdb"
max-memdb-size = "500MiB"
mutable-memdb-ttl = "30m0s"
max-mem-usage-before-flush = 0.75
`

await inFolder(async (folder) => {
  const logs = join(folder, 'logs')
  mkdirSync(logs)
  writeFileSync(join(folder, 'storage.toml'), CONFIG)
  writeFileSync(join(logs, 'storage.log'), incident(40_000))
  writeFileSync(join(logs, 'storage-2026-11-13T23-59-59.874.log'), incident(6_000))
  writeFileSync(join(logs, 'query-slow.log'), incident(900))
  writeFileSync(join(logs, 'access.log'), requests(12_000))
  const names = ['--host-name', 'db-4.eu-west', '--host-ip', '10.20.0.4', '--node-version', '0.4.1']
  const service = await startService(logs, ['--config', join(folder, 'storage.toml'), ...names])
  const browser = await launchChromium()
  try {
    const shoot = async (name, look, options, act = async () => {}) => {
      const context = await browser.newContext({ viewport: { width: 1360, height: 820 }, ...options })
      const page = await context.newPage()
      await page.goto(`${service.url}/${look}`)
      await page.locator('.files a').first().waitFor({ state: 'attached' })
      await act(page)
      // Nothing is still being counted or loaded.
      await page.waitForFunction(
        () =>
          !/Counting|Reading|Grouping|Comparing/.test(document.body.textContent) &&
          !document.querySelector('.progress'),
      )
      await page.waitForTimeout(1200)
      await page.screenshot({ path: `docs/screenshots/${name}.png` })
      await context.close()
    }
    const rows = (page) => page.locator('.row').first().waitFor()
    const phone = { viewport: { width: 390, height: 780 }, deviceScaleFactor: 2 }
    await shoot('node', '', {})
    await shoot('log', '#file=storage.log', {}, rows)
    await shoot('errors', '#file=storage.log&level=error', {}, async (page) => {
      await rows(page)
      await page.locator('.row .t').nth(2).click()
    })
    await shoot('around', '#file=storage.log&level=error', { colorScheme: 'dark' }, async (page) => {
      await page.locator('.row').filter({ hasText: 'no space left' }).first().waitFor()
      await page.keyboard.press('g')
      await page.waitForTimeout(600)
      await page.locator('.row .m').first().click()
      await page.getByRole('button', { name: 'Show the lines around it' }).click()
      await page.locator('.row.hit').first().waitFor()
    })
    await shoot('fields', '#file=storage.log&level=warn', {}, async (page) => {
      await rows(page)
      await page.keyboard.press('e')
      await page.locator('.field-list').waitFor()
      await page.locator('.row .t').nth(4).click()
    })
    await shoot('patterns', '#file=storage.log', { colorScheme: 'dark' }, async (page) => {
      await rows(page)
      await page.keyboard.press('e')
      await page.getByRole('tab', { name: 'Patterns' }).click()
      await page.locator('.patterns').waitFor()
    })
    await shoot('groups', '#file=access.log', {}, async (page) => {
      await rows(page)
      await page.keyboard.press('/')
      await page.keyboard.type('status>=500 duration>1s')
      await page.keyboard.press('Enter')
      await page.keyboard.press('e')
      await page.getByRole('button', { name: 'Group by path' }).click()
      await page.locator('.groups').waitFor()
    })
    const range = 'since=2026-11-14 02:24:00&until=2026-11-14 02:34:00'
    await shoot('different', `#file=access.log&${range}`, {}, async (page) => {
      await rows(page)
      await page.getByRole('button', { name: 'What is different?' }).click()
      await page.locator('.findings li').first().waitFor()
    })
    await shoot('timeline', '#file=storage.log&file=query-slow.log&file=access.log', {}, rows)
    await shoot('find', '#file=storage.log&q=compaction', { colorScheme: 'dark' }, rows)
    await shoot('phone', '', phone)
    await shoot('phone-log', '#file=storage.log&level=warn', phone, rows)
  } finally {
    await browser.close()
    service.stop()
  }
})

/** Requests of a night; those that write fail and are slow when the volume is full. */
function requests(count) {
  const paths = ['/api/v1/query', '/api/v1/write', '/api/v1/metadata', '/api/v1/health']
  let text = ''
  for (let i = 0; i < count; i++) {
    const path = paths[(i * 7 + (i >> 3)) % paths.length]
    const bad = i > count * 0.6 && i < count * 0.64 && (path.endsWith('write') || i % 9 === 0)
    const duration = bad ? 900 + ((i * 37) % (path.endsWith('write') ? 4000 : 900)) : 3 + ((i * 31) % 240)
    const time = new Date(Date.UTC(2026, 10, 14) + i * 1200).toISOString()
    const level = bad ? 'error' : 'info'
    text += `${JSON.stringify({ time, level, msg: 'request', path, status: bad ? 503 : 200, duration: `${duration}ms` })}\n`
  }
  return text
}

/** A quiet night, then a volume fills up: the warning comes before the errors. */
function incident(records) {
  let state = 42
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  const pick = (list) => list[Math.floor(random() * list.length)]
  const quiet = [
    [
      'tsdb/family.go:312',
      ['Storage', 'Family'],
      'flush memory database successfully',
      () => ({ family: `2026111${pick([3, 4])}`, cost: `${Math.ceil(random() * 900)}ms` }),
    ],
    [
      'kv/compact_job.go:88',
      ['KV', 'Compaction'],
      'start compaction job',
      () => ({ level: pick([0, 1]), files: Math.ceil(random() * 12) }),
    ],
    [
      'kv/compact_job.go:131',
      ['KV', 'Compaction'],
      'compaction job is done',
      () => ({ cost: `${(random() * 4).toFixed(2)}s` }),
    ],
    [
      'replica/partition.go:204',
      ['Storage', 'Replica'],
      'replicate wal entries',
      () => ({ shard: Math.floor(random() * 16), index: Math.floor(random() * 1e7) }),
    ],
    ['app/runtime.go:97', ['Storage', 'Runtime'], 'heartbeat to coordinator', () => ({ lease: '10s' })],
    [
      'query/stage.go:61',
      ['Query', 'Stage'],
      'execute leaf query',
      () => ({ db: pick(['metrics', 'traces']), cost: `${Math.ceil(random() * 80)}ms` }),
    ],
  ]
  const line = (at, level, [source, tags, message, context]) =>
    `${new Date(at).toISOString().replace('T', ' ').replace('Z', '')}\t${level}\t${source}\t${tags.map((tag) => `[${tag}]`).join(' ')}: ${message}\t${JSON.stringify(context())}\n`
  const wrong = records * 0.62
  let at = Date.UTC(2026, 10, 14, 0, 0)
  let text = ''
  for (let i = 0; i < records; i++) {
    const wild = i > wrong && i < wrong + records * 0.012
    at += wild ? random() * 60 : random() * (400 + 300 * Math.sin(i / 2500))
    if (i === Math.floor(wrong)) {
      text += line(at, 'WARN', [
        'disk/watch.go:41',
        ['Storage', 'Disk'],
        'volume /data is full: writes will be refused',
        () => ({ used: '100%', free: 0, mount: '/data' }),
      ])
    } else if (wild && random() < 0.35) {
      text += line(at, 'ERROR', [
        'wal/page.go:177',
        ['Storage', 'Wal'],
        'append page failed: no space left on device',
        () => ({ shard: Math.floor(random() * 16), path: '/data/wal', retry: true }),
      ])
      text +=
        'goroutine 1187 [running]:\ngithub.com/lindb/lindb/pkg/queue/page.(*factory).AcquirePage(0xc0003a4000)\n\t/src/pkg/queue/page/factory.go:134 +0x2b8\ngithub.com/lindb/lindb/replica.(*partition).WriteLog(0xc00051a1e0)\n\t/src/replica/partition.go:221 +0x94\n'
    } else if (random() < 0.006) {
      text += line(at, 'WARN', [
        'query/stage.go:118',
        ['Query', 'Stage'],
        'slow query: more series scanned than expected',
        () => ({ cost: `${(1 + random() * 6).toFixed(2)}s`, series: Math.ceil(random() * 2e5) }),
      ])
    } else text += line(at, random() < 0.12 ? 'DEBUG' : 'INFO', pick(quiet))
  }
  return text
}
