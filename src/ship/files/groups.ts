import { includeFilter } from '../../log/files/include.ts'
import { logNames } from '../../log/rotated/kin.ts'
import { parseDashed } from '../../log/rotated/names.ts'
import { dashedLogs, type Rolled, rollsOver, type Times } from '../../log/rotated/rolled.ts'
import { type Disk, type Listed, toEntry } from './disk.ts'
import { readHead, readLast } from './heads.ts'

/**
 * Which log each file of the directory belongs to. Most names tell. `core-1.log` may be a rotated file of `core.log`, as
 * Log4j names them, or a log beside it: it is a rotated file if it was `core.log` before, or if the times of the records
 * or the bucket say so when it is first seen. A file stays with its log, so that it is not shipped again as part of
 * another one.
 */
export function logGroups(
  disk: Disk,
  include: readonly string[],
  shippedAs: (log: string) => Promise<(file: Listed) => Promise<boolean>>,
) {
  const isIncluded = includeFilter(include)
  /** The log of each file at the last listing. */
  let known = new Map<string, string>()

  /** The logs by the names of their files. Files that moved meanwhile are left out. */
  async function logsOf(listed: readonly Listed[]): Promise<Map<string, string>> {
    const files = new Map(listed.map((file) => [file.name, file]))
    const entries = listed.map(toEntry)
    const logs = await logNames(entries)
    for (const { name, id } of listed) {
      const log = parseDashed(name)?.stem
      if (log !== undefined && known.get(id) === log) logs.set(name, log)
    }
    for (const [log, rolled] of dashedLogs(entries)) {
      const names = rolled.files.map(({ entry }) => entry.key)
      const fresh = names.filter((name) => known.get(files.get(name)!.id) !== logs.get(name))
      if (fresh.length === 0) continue
      const isRolled =
        names.some((name) => logs.get(name) === log) || (await hasRolledOver(disk, rolled, files))
      if (isRolled === null) for (const name of fresh) logs.delete(name)
      if (isRolled === null) continue
      const isPart = isRolled ? async () => true : await shippedAs(log)
      for (const name of fresh) if (await isPart(files.get(name)!)) logs.set(name, log)
    }
    return logs
  }

  /** The files of each log, by the log's name. */
  return async (listed: readonly Listed[]): Promise<Map<string, Listed[]>> => {
    const logs = await logsOf(listed)
    known = new Map(listed.map(({ id, name }) => [id, logs.get(name) ?? '']))
    const byLog = new Map<string, Listed[]>()
    for (const file of listed) {
      const log = logs.get(file.name)
      if (!isIncluded(file.name) || !log || log === '.' || log === '..') continue
      const files = byLog.get(log) ?? []
      byLog.set(log, files)
      files.push(file)
    }
    return byLog
  }
}

/** Whether the times of the records say so; null if a file moved meanwhile. */
async function hasRolledOver(disk: Disk, rolled: Rolled, files: ReadonlyMap<string, Listed>) {
  const times = new Map<string, Times>()
  for (const { key } of [...rolled.files.map(({ entry }) => entry), rolled.active]) {
    const file = files.get(key)!
    const head = await readHead(disk, file)
    if (head === 'moved') return null
    times.set(key, { first: head === 'none' ? null : head.first, last: await readLast(disk, file) })
  }
  return rollsOver(rolled, ({ key }) => times.get(key))
}
