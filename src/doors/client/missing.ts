import type { Missing } from './types.ts'

/** The sources that are not in an answer, each with a reason; `+2` counts those that are not named. */
export function missingOf(response: Response): Missing[] {
  const named = (response.headers.get('X-Nodestate-Missing') ?? '').split(/,\s*/).filter(Boolean)
  return named.map((each) => {
    const [name, reason = ''] = each.split(';')
    return { name: decoded(name!), reason }
  })
}

/** A name as it is where it is not percent-encoded UTF-8. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** What is special about an answer, as short words. */
export function notesOf(response: Response): string[] {
  return (response.headers.get('X-Nodestate-Note') ?? '').split(/,\s*/).filter(Boolean)
}
