/** The media types that an Accept header names, wildcards and those with `q=0` left out. */
export function acceptedTypes(accept: string | null | undefined): Set<string> {
  const named = elements(accept).filter(({ name, refused }) => !refused && !name.includes('*'))
  return new Set(named.map(({ name }) => name))
}

/** The elements of a header with preferences, and which of them `q=0` refuses. */
function elements(header: string | null | undefined): { name: string; refused: boolean }[] {
  if (!header) return []
  return header
    .toLowerCase()
    .split(',')
    .map((part) => {
      const [name = '', ...params] = part.split(';').map((piece) => piece.trim())
      return { name, refused: params.some((param) => /^q=0(\.0*)?$/.test(param)) }
    })
    .filter(({ name }) => name !== '')
}

/** Whether an `Accept-Encoding` allows gzip. RFC 9110, 12.5.3: gzip or `*`, unless refused with q=0. */
export function takesGzip(header: string | null): boolean {
  const codings = elements(header)
  const named = codings.find(({ name }) => name === 'gzip' || name === 'x-gzip')
  return (named ?? codings.findLast(({ name }) => name === '*'))?.refused === false
}
