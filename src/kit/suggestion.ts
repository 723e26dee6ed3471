/** `: did you mean X?` for the nearest known name, or nothing. */
export function suggestion(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known)
  return nearest === null ? '' : `: did you mean ${nearest}?`
}

/** The known name that a misspelt one stands for, or null. */
export function nearestName(name: string, known: readonly string[]): string | null {
  const word = name.toLowerCase().replaceAll('_', '-').slice(0, 64)
  let best: [number, string] | null = null
  for (const candidate of known) {
    const other = candidate.toLowerCase().replaceAll('_', '-')
    const cost = other.startsWith(word) && word.length > 4 ? 1 : distance(word, other)
    if (cost <= Math.max(1, Math.floor(word.replace(/^--/, '').length / 3)) && (!best || cost < best[0])) {
      best = [cost, candidate]
    }
  }
  return best?.[1] ?? null
}

/** How many letters differ; two swapped neighbours count as one, because that is a common typo. */
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, i) => i)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      let cost = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + same)
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (rows[i - 2]?.[j - 2] ?? 9) + 1)
      row.push(cost)
    }
    rows.push(row)
  }
  return rows[a.length]![b.length]!
}
