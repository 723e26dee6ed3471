/** How a file is compressed, judged by its name. */
export type Kind = 'plain' | 'gzip' | 'zstd'

/** The kind of a file by its name: `.gz` and `.zst`, in any case, are viewed as their text. */
export function kindOf(name: string): Kind {
  if (/\.gz$/i.test(name)) return 'gzip'
  return /\.zstd?$/i.test(name) ? 'zstd' : 'plain'
}
