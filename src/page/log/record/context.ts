/**
 * A record's context as the log writes it, so that what a row shows can be searched for: `shard=20` stays that and
 * does not become `{"shard":"20"}`.
 */
export function contextText(context: unknown, raw: string | null): string {
  const compact = JSON.stringify(context)
  if (raw === null || raw.includes(compact) || typeof context !== 'object' || context === null) return compact
  const line = raw.split('\n', 1)[0]!
  const tail = line.slice(line.lastIndexOf('\t') + 1).trim()
  if (tail.startsWith('{') && tail.endsWith('}') && tail !== line.trim()) return tail
  const entries = Object.entries(context).map(([key, value]) => entryText(key, value, raw))
  // Either all of it is JSON or none of it is.
  return entries.every((each) => each.startsWith('"')) ? `{${entries.join(',')}}` : entries.join(' ')
}

function entryText(key: string, value: unknown, raw: string): string {
  const json = JSON.stringify(value)
  const name = JSON.stringify(key)
  const spelled = [`${key}=${json}`, `${name}:${json}`, `${name}: ${json}`]
  if (typeof value === 'string') spelled.unshift(`${key}=${value}`)
  return spelled.find((text) => raw.includes(text)) ?? `${name}:${json}`
}

/** A record's tags as the log writes them: `[Storage] [WAL]`, `[Storage][WAL]`, or a bare logger name. */
export function tagsText(tags: string[], raw: string | null): string[] {
  if (raw === null) return tags.map((tag) => `[${tag}]`)
  return tags.map((tag) => [`[${tag}]`, `[ ${tag}]`].find((text) => raw.includes(text)) ?? tag)
}
