import type { ConfigChange } from '../../../kit/answers.ts'
import { byCodePoint } from '../../../store/store.ts'
import type { ConfigValues } from './values.ts'

export function changesOf(before: ConfigValues, after: ConfigValues): ConfigChange[] {
  const changes: ConfigChange[] = []
  for (const [key, value] of before.values) {
    const now = after.values.get(key)
    if (now === value || isFilled(key, value, after)) continue
    changes.push({ key, before: value, ...(now !== undefined && { after: now }) })
  }
  for (const [key, value] of after.values)
    if (!before.values.has(key) && !isFilled(key, value, before)) changes.push({ key, after: value })
  return changes.sort((a, b) => byCodePoint(a.key, b.key))
}

/** Whether an empty table or array holds something in another configuration: what it holds is the difference. */
export function isFilled(key: string, value: string, { holders }: ConfigValues): boolean {
  return (value === '{}' || value === '[]') && holders.has(key)
}
