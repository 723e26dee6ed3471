import { bad } from '../../http/params.ts'
import type { Query } from './read.ts'

const DEFAULT = ['time', 'level', 'message']
const MOST = 100

/** The columns of a table; `origin` is what the records of several logs have besides, and comes first by default. */
export function columnsOf({ columns }: Query, origin: readonly string[] = []): readonly string[] {
  if (columns === undefined) return [...origin, ...DEFAULT]
  const names = columns.split(',').map((name) => name.trim())
  if (names.includes(''))
    throw bad('columns', 'has an empty name; give names separated by commas, such as time,level,message')
  if (names.length > MOST) throw bad('columns', `has ${names.length} names; at most ${MOST} are allowed`)
  return names
}
