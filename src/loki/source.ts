import type { ViewContext } from '../log/view/context.ts'

/** The logs of a node. */
export interface LokiSource {
  /** The value of the label `node`. */
  node: string
  context: ViewContext
}

/** Answers Loki's read API below `/loki/api/v1/`. */
export interface Loki {
  answer(request: Request, sources: readonly LokiSource[]): Promise<Response>
}
