/**
 * A record's context as the log writes it, so that what a row shows can be searched for: `shard=20` stays that and
 * does not become `{"shard":"20"}`. Of a line that is not JSON, it leaves out what the message says already and what the
 * line says in another way; the details have all of it.
 */
export function contextText(context: unknown, raw: string, message = ''): string {
  const compact = JSON.stringify(context)
  if (raw.includes(compact) || typeof context !== 'object' || context === null) return compact
  const line = raw.split('\n', 1)[0]!
  const tail = line.slice(line.lastIndexOf('\t') + 1).trim()
  if (tail.startsWith('{') && tail.endsWith('}') && tail !== line.trim()) return tail
  const isJson = line.startsWith('{')
  const entries = Object.entries(context).flatMap(([key, value]) => {
    const text = entryText(key, value, raw)
    if (isJson) return text ?? `${JSON.stringify(key)}:${JSON.stringify(value)}`
    return text === undefined || message.includes(text) ? [] : text
  })
  if (entries.length === 0) return ''
  // Either all of it is JSON or none of it is.
  return entries.every((each) => each.startsWith('"')) ? `{${entries.join(',')}}` : entries.join(' ')
}

function entryText(key: string, value: unknown, raw: string): string | undefined {
  const json = JSON.stringify(value)
  const name = JSON.stringify(key)
  const spelled = [`${key}=${json}`, `${name}:${json}`, `${name}: ${json}`]
  if (typeof value === 'string') spelled.unshift(`${key}=${value}`)
  return spelled.find((text) => raw.includes(text))
}

/** A record's tags as the log writes them: `[Storage] [WAL]`, `[Storage][WAL]`, or a bare logger name. */
export function tagsText(tags: string[], raw: string): string[] {
  return tags.map((tag) => [`[${tag}]`, `[ ${tag}]`].find((text) => raw.includes(text)) ?? tag)
}
