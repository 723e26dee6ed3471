import type { Page } from './page.ts'

/**
 * The page with a mark that it reads: of a fleet's root, it shows the nodes and asks for no configuration and no logs; of
 * a sample, a bar says that these are no real logs, and how to see one's own.
 */
export function markedPage({ html, etag, ...rest }: Page, mark: 'fleet' | 'sample'): Page {
  const marked = html.replace('<div id="page"', `<div id="page" data-${mark}`)
  return { ...rest, html: marked, etag: etag.replace(/"$/, `-${mark}"`) }
}
