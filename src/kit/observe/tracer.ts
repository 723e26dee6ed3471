/** A span of OpenTelemetry's API, reduced to the parts used here. */
export interface Span {
  setAttribute(key: string, value: string | number): unknown
  setStatus(status: { code: number; message?: string }): unknown
  recordException?(error: Error): unknown
  end(): unknown
}

/** A tracer of OpenTelemetry's API, reduced to the parts used here: `trace.getTracer('nodestate')` is one. */
export interface Tracer {
  startSpan(name: string, options: { kind: number; attributes: Record<string, string | number> }): Span
}

/** SpanKind.SERVER and SpanStatusCode.ERROR. */
const SERVER = 1
const ERROR = 2

/** Starts the span of a request, named and described as OpenTelemetry's conventions for HTTP have it. */
export function startSpan(tracer: Tracer, request: Request, route: string): Span {
  const { pathname } = new URL(request.url)
  const attributes: Record<string, string | number> = {
    'http.request.method': request.method,
    'http.route': route,
    'url.path': pathname,
  }
  return tracer.startSpan(`${request.method} ${route}`, { kind: SERVER, attributes })
}

/** Ends a span with the status of the response and, if its body failed, the reason. */
export function endSpan(span: Span, status: number, failure: unknown): void {
  span.setAttribute('http.response.status_code', status)
  if (failure !== null)
    span.recordException?.(failure instanceof Error ? failure : new Error(String(failure)))
  if (status >= 500 || failure !== null) span.setStatus({ code: ERROR })
  span.end()
}
