export type PartName = 'node' | 'bun' | 'deno' | 'workerd' | 'esbuild' | 'wrangler' | 'miniflare'
export declare const partsFolder: string
export declare function findPart(name: PartName): string | null
