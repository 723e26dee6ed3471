import type { LeftFile } from '../store/segment/ship-json.ts'
import type { Bucket } from './bucket.ts'
import { type Examined, Examiner, examineListed, shippedAs } from './examiner.ts'
import { type Disk, type Listed, type Native, UnreadableLog } from './files/disk.ts'
import { logGroups } from './files/groups.ts'
import { openText } from './files/text.ts'
import { type Memory, recall } from './memory.ts'

/** A file that is not in the bucket as it is in the directory. */
interface Finding {
  name: string
  kind: 'missing' | 'incomplete' | 'different'
  detail: string
}

/**
 * Compares every file of the directory with the lengths and checksums in the names of the segments. It reads no object
 * and writes nothing. Null if there is no directory.
 */
export async function verify(disk: Disk, bucket: Bucket, native: Native, include: readonly string[]) {
  const listed = await disk.list()
  if (!listed) return null
  const group = logGroups(disk, include, (log) => shippedAs({ log, bucket, native }, disk))
  const byLog = await group(listed)
  const missing = ({ name, reason }: LeftFile): Finding => ({ name, kind: 'missing', detail: reason })
  const left = [...disk.left(), ...disk.skipped()]
  const verified = { logs: byLog.size, files: left.length, findings: left.map(missing) }
  for (const [log, files] of byLog) {
    const memory = await recall(bucket, log)
    const examiner = new Examiner({ log, bucket, native })
    const compared: (Compared & { name: string })[] = []
    for (const file of files)
      compared.push({ name: file.name, ...(await compare(file, disk, { examiner, memory })) })
    const found = new Set(compared.flatMap(({ lives }) => lives))
    const others = [...memory.ends.values(), ...memory.open.values()].filter(({ life }) => !found.has(life))
    verified.files += files.length
    const whole = files.filter((_, i) => compared[i]!.kind === null)
    for (const [i, { name, kind, detail, size }] of compared.entries()) {
      if (kind === null || (await isUnfinishedCopy(files[i]!, whole, disk, examiner))) continue
      // A life of this length that no file is: the file has changed since it was shipped.
      const isChanged = kind === 'missing' && others.some((life) => life.size === size)
      verified.findings.push(
        isChanged ? { name, kind: 'different', detail: CHANGED } : { name, kind, detail },
      )
    }
  }
  return verified
}

/** Whether a file is the beginning of an older one that is in the bucket. */
async function isUnfinishedCopy(
  copy: Listed,
  whole: readonly Listed[],
  disk: Disk,
  examiner: Examiner,
): Promise<boolean> {
  for (const other of whole) {
    if (copy.born < other.born || copy.size > other.size) continue
    const opened = await Promise.all([copy, other].map(({ name }) => disk.open(name).catch(() => null)))
    const [one, text] = opened.map((file, i) => file && openText(file, [copy, other][i]!.name))
    try {
      if (!one || !text || one.compressed || text.compressed) continue
      if (await examiner.isBeginning(one, copy.size, text)) return true
    } finally {
      for (const file of opened) await file?.close()
    }
  }
  return false
}

const CHANGED = 'a file of this length was shipped, with other bytes'

interface Compared {
  /** Null if the file is in the bucket. */
  kind: 'missing' | 'incomplete' | null
  detail: string
  size: number
  /** The lives that it is, or begins with. */
  lives: number[]
}

async function compare(
  listed: Listed,
  disk: Disk,
  { examiner, memory }: { examiner: Examiner; memory: Memory },
): Promise<Compared> {
  const none = { size: 0, lives: [] }
  try {
    const examined = await examineListed(examiner, listed, memory, disk)
    // There is nothing to compare any more.
    if (examined === 'gone') return { kind: null, detail: '', ...none }
    if (examined) return judge(examined, memory)
    return { kind: 'missing', detail: 'the archive is broken', ...none }
  } catch (error) {
    if (!(error instanceof UnreadableLog)) throw error
    return { kind: 'missing', detail: error.message, ...none }
  }
}

function judge({ size, equals, behind, holds }: Examined, { open }: Memory): Compared {
  const begun = [equals, behind, ...holds.map((life) => open.get(life)!)].filter((life) => life !== null)
  const found = { size, lives: begun.map(({ life }) => life) }
  const whole = begun.filter((life) => life.size === size)
  if (size === 0 || whole.some(({ begins }) => begins === 0)) return { kind: null, detail: '', ...found }
  if (whole[0])
    return { kind: 'incomplete', detail: `the first ${whole[0].begins} bytes have expired`, ...found }
  const most = Math.max(0, ...begun.map((life) => life.size))
  if (most > 0) return { kind: 'incomplete', detail: `${most} of ${size} bytes`, ...found }
  return { kind: 'missing', detail: '', ...found }
}
