import type { Page } from './page.ts'

/** The page, or how to load it; false for none. */
export type PageOption = Page | (() => Page | Promise<Page>) | false | undefined

/**
 * The page with a mark that it reads: of a fleet's root, it shows the nodes and asks for no configuration and no logs; of
 * a sample, a bar says that these are no real logs, and how to see one's own.
 */
export function markedPage(page: PageOption, mark: 'fleet' | 'sample'): PageOption {
  if (!page) return false
  return async () => {
    const { html, etag, ...rest } = typeof page === 'function' ? await page() : page
    const marked = html.replace('<div id="page"', `<div id="page" data-${mark}`)
    return { ...rest, html: marked, etag: etag.replace(/"$/, `-${mark}"`) }
  }
}
