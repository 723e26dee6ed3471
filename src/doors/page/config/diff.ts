/** A line of a comparison: in both texts, or only in the one before or after. */
export interface DiffLine {
  kind: 'same' | 'before' | 'after'
  text: string
  /** Its number in the text after, or of a line that went, in the text before. */
  number: number
}

/** Lines that changed, with those around them; stretches that do not touch are apart. */
export function changedParts(before: string, after: string, around = 2): DiffLine[][] {
  const lines = diffLines(before.split(/\r?\n/), after.split(/\r?\n/))
  const parts: DiffLine[][] = []
  let end = -1
  for (const [index, { kind }] of lines.entries()) {
    if (kind === 'same') continue
    const from = Math.max(end, index - around, 0)
    const part = end >= 0 && index - around <= end ? parts.at(-1)! : []
    if (part.length === 0) parts.push(part)
    const to = Math.min(lines.length, index + around + 1)
    part.push(...lines.slice(from, to))
    end = Math.max(end, to)
  }
  return parts
}

function diffLines(before: string[], after: string[]): DiffLine[] {
  const shorter = Math.min(before.length, after.length)
  let head = 0
  while (head < shorter && before[head] === after[head]) head++
  let tail = 0
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  const same = (from: number, to: number): DiffLine[] =>
    after.slice(from, to).map((text, index) => ({ kind: 'same', text, number: from + index + 1 }))
  const end = after.length - tail
  return [...same(0, head), ...middle(before, after, { head, tail }), ...same(end, after.length)]
}

/** The lines between the common ends, by their longest common subsequence; very many are simply replaced. */
function middle(
  before: string[],
  after: string[],
  { head, tail }: { head: number; tail: number },
): DiffLine[] {
  const [old, now] = [before.slice(head, before.length - tail), after.slice(head, after.length - tail)]
  const line = (kind: DiffLine['kind'], index: number): DiffLine => ({
    kind,
    text: (kind === 'before' ? old : now)[index]!,
    number: head + index + 1,
  })
  const width = now.length + 1
  const isMuch = old.length * now.length > MOST
  // How many lines the rests from here on have in common.
  const common = new Uint32Array(isMuch ? 0 : (old.length + 1) * width)
  if (!isMuch)
    for (let i = old.length - 1; i >= 0; i--)
      for (let j = now.length - 1; j >= 0; j--)
        common[i * width + j] =
          old[i] === now[j]
            ? common[(i + 1) * width + j + 1]! + 1
            : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!)
  const out: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < old.length || j < now.length) {
    if (!isMuch && i < old.length && old[i] === now[j]) {
      out.push(line('same', j++))
      i++
    } else if (
      i < old.length &&
      (isMuch || j === now.length || common[(i + 1) * width + j]! >= common[i * width + j + 1]!)
    )
      out.push(line('before', i++))
    else out.push(line('after', j++))
  }
  return out
}

/** Pairs of lines that are compared: 4 MB of counts. */
const MOST = 1_000_000
