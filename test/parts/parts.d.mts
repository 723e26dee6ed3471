export type PartName = 'node' | 'bun' | 'deno' | 'workerd' | 'esbuild' | 'wrangler' | 'miniflare' | 'duckdb'
export declare const partsFolder: string
export declare function findPart(name: PartName): string | null
