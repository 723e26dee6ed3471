import { Problem, problemResponse } from '../core/http/problem.ts'
import type { App } from './server/serve.ts'

/** A Worker, in the form of Cloudflare's default export. */
export interface Worker<Env> {
  fetch(request: Request, env: Env, context?: unknown): Promise<Response>
}

/**
 * A Worker around an app of your own. Bindings exist only while a request runs, so the app is made from the first
 * request's environment: `export default handle((env) => createApp({ logs: r2Store(env.BUCKET), … }))`. While it cannot
 * be made, such as without its secret, every request gets a 503.
 */
// biome-ignore lint/suspicious/noExplicitAny: bindings have no types in JavaScript
export function handle<Env extends object = Record<string, any>>(
  app: App | ((env: Env) => App),
): Worker<Env> {
  let made: App | null = typeof app === 'function' ? null : app
  return {
    async fetch(request, env, context) {
      try {
        made ??= (app as (env: Env) => App)(env)
      } catch (error) {
        console.error('nodestate:', error)
        return notConfigured(request)
      }
      return made.fetch(request, env, context)
    },
  }
}

function notConfigured(request: Request): Response {
  const detail =
    'The service cannot start with these bindings and variables; its log says why. Set what is missing and deploy again.'
  return problemResponse(new Problem('not-configured', detail), request.headers.get('Accept'))
}
