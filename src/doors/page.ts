import type { Capability } from '../core/capability.ts'
import type { Handler } from '../core/routing.ts'
import { once } from '../kit/limits/once.ts'
import type { Page } from '../routes/page.ts'

/** The web page at `/`. */
export function page(): Capability {
  // Half a megabyte of text: loaded with the first request for it.
  return pageOf(async () => (await import('./page/assets.js')).assets)
}

/** The page of a sample, which says that it is none of your logs. */
export function samplePage(): Capability {
  return pageOf(async () => {
    const [{ assets }, { markedPage }] = await Promise.all([
      import('./page/assets.js'),
      import('../routes/page-mark.ts'),
    ])
    return markedPage(assets, 'sample')
  })
}

/** A page that is built elsewhere. */
export function pageOf(read: () => Promise<Page>): Capability {
  const routes = once(() => import('../routes/page.ts'))
  const load = once(read)
  return {
    name: 'page',
    add({ routing, isFleet }) {
      const shown = once(async () => {
        const assets = await load()
        return isFleet ? (await import('../routes/page-mark.ts')).markedPage(assets, 'fleet') : assets
      })
      const show: Handler = async (request) => (await routes()).showPage(request, await shown())
      routing.add('/', 'nothing', show)
      routing.add('/assets/:name', 'nothing', async (request) => {
        const name = new URL(request.url).pathname.split('/').at(-1)!
        return (await routes()).showAsset(request, name, await load())
      })
      // Under route(), `/` matches only without the trailing slash.
      const atSlash = routing.guarded('/', 'nothing', show)
      routing.app.get('*', (c, next) =>
        c.req.path === `${c.req.routePath.slice(0, -2)}/` ? atSlash(c.req.raw, c.env) : next(),
      )
    },
    preload: () => Promise.all([load(), routes()]),
  }
}
