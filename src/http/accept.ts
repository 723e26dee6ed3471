/** The media types that an Accept header names, wildcards and those with `q=0` left out. */
export function acceptedTypes(accept: string | null | undefined): Set<string> {
  const types = new Set<string>()
  if (!accept) return types
  for (const part of accept.toLowerCase().split(',')) {
    const [type = '', ...params] = part.split(';').map((piece) => piece.trim())
    if (type === '' || type.includes('*') || params.some((param) => /^q=0(\.0*)?$/.test(param))) continue
    types.add(type)
  }
  return types
}

/** Whether an `Accept-Encoding` allows gzip. RFC 9110, 12.5.3: gzip or `*`, unless refused with q=0. */
export function takesGzip(header: string | null): boolean {
  let star = false
  for (const part of (header ?? '').toLowerCase().split(',')) {
    const [coding, ...params] = part.split(';').map((piece) => piece.trim())
    const refused = params.some((param) => /^q=0(\.0*)?$/.test(param))
    if (coding === 'gzip' || coding === 'x-gzip') return !refused
    if (coding === '*') star = !refused
  }
  return star
}
