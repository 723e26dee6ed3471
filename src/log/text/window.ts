import type { Text } from './text.ts'

/** What each window shows a part of. */
const sources = new WeakMap<Text, Text>()

/**
 * A part of a file, as if there were nothing before or after it. Its cursors still point into the file. `begin` and `end`
 * count from the start of the file, of which `text` may be a window already.
 */
export function textWindow(text: Text, begin: number, end: number): Text {
  const source = sources.get(text) ?? text
  const size = end - begin
  const read: Text['read'] = (from, to) => source.read(from + begin, to + begin)
  const window: Text = {
    name: text.name,
    entry: { ...text.entry, size },
    compressed: false,
    begin,
    size: async () => size,
    reaches: async (least) => size >= least,
    read,
    ensure: async (from, to) => source.ensure?.(from + begin, to + begin),
    head: (length) => read(0, Math.min(length, size)),
    known: (offset) => source.known(offset + begin),
  }
  sources.set(window, source)
  return window
}
