/** The sources that are not in an answer, each with a reason; `+2` counts those that are not named. */
export function missingOf(response: Response): Record<string, string> {
  const missing: Record<string, string> = {}
  for (const each of (response.headers.get('X-Nodestate-Missing') ?? '').split(/,\s*/).filter(Boolean)) {
    const [name, reason = ''] = each.split(';')
    missing[decodeURIComponent(name!)] = reason
  }
  return missing
}
