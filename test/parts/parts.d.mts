export type PartName =
  | 'node'
  | 'bun'
  | 'deno'
  | 'workerd'
  | 'esbuild'
  | 'wrangler'
  | 'miniflare'
  | 'duckdb'
  | 'chdb'
  | 'kustomize'
  | 'actionlint'
  | 'spectral'
  | 'fastify'
  | 'inspector'
  | 'conformance'
export declare const partsFolder: string
export declare const INSTALLED_BY: string
export declare function findPart(name: PartName): string | null
