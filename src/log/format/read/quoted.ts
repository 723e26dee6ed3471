/** Longer strings are searched by the runtime's own loop, which is ten times as fast and slower to start. */
const SHORT = 64

/** The offset after the string whose quote is at `from`, or -1. A backslash escapes what follows it. */
export function stringEnd(bytes: Uint8Array, from: number, to: number): number {
  const near = Math.min(to, from + SHORT)
  let at = from + 1
  for (; at < near; at++) {
    const byte = bytes[at]
    if (byte === 0x5c) at++
    else if (byte === 0x22) return at + 1
  }
  for (
    let quote = bytes.indexOf(0x22, at);
    quote >= 0 && quote < to;
    quote = bytes.indexOf(0x22, quote + 1)
  ) {
    let before = quote
    while (before > at && bytes[before - 1] === 0x5c) before--
    if ((quote - before) % 2 === 0) return quote + 1
  }
  return -1
}
