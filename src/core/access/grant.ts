export const SCOPES = ['config', 'logs', 'metrics'] as const

export type Scope = (typeof SCOPES)[number]

/** A token with a name, and what it allows. */
export interface Token {
  /** Shown in the access log. */
  name: string
  /** The token itself, or `sha256:` and 64 hex digits. */
  token: string
  /** @default every scope */
  scopes?: readonly Scope[] | undefined
  /** Shell patterns; files that match none of them do not exist for this token. @default every file */
  files?: readonly string[] | undefined
  /** Shell patterns; nodes of a fleet that match none of them do not exist for this token. @default every node */
  nodes?: readonly string[] | undefined
}

/** What a request is allowed to see. */
export interface Grant {
  /** The name of its token; null for the single token, or if none is needed. */
  name: string | null
  scopes: ReadonlySet<Scope>
  /** Null for every file. */
  files: readonly string[] | null
  /** Null for every node. */
  nodes: readonly string[] | null
}

export const EVERYTHING: Grant = { name: null, scopes: new Set(SCOPES), files: null, nodes: null }
