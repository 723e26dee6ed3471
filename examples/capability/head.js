// A capability of your own: the first bytes of a log, at /api/v1/log/head?file=NAME.
//   import { head } from './head.js'
//   createApp({ logs, config, with: [head()] })

/** Adds `GET /api/v1/log/head`: the first lines of a log, at most 4 KiB. */
export function head() {
  return {
    name: 'head',
    add({ node }) {
      // The parameter `file` is that of a download; who may ask, and for which logs, is checked before.
      node?.addLog(
        'head',
        async (request, { file }, { context }) => {
          const { body } = await context.files.read(
            file,
            { offset: 0, length: 4096 },
            { signal: request.signal },
          )
          const text = new TextDecoder().decode(await new Response(body).arrayBuffer())
          return new Response(text.slice(0, text.lastIndexOf('\n') + 1), {
            headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'private, no-cache' },
          })
        },
        { resource: 'download' },
      )
    },
  }
}
