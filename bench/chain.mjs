/** The longest chain of requests of which each began after the one before had ended. */
export function longestChain(requests) {
  const endOf = ({ to }) => to ?? Number.POSITIVE_INFINITY
  const byEnd = [...requests].sort((a, b) => endOf(a) - endOf(b))
  const lengths = new Map()
  let longest = 0
  for (const request of [...requests].sort((a, b) => a.from - b.from)) {
    let length = 1
    for (const earlier of byEnd) {
      if (endOf(earlier) > request.from) break
      length = Math.max(length, (lengths.get(earlier) ?? 0) + 1)
    }
    lengths.set(request, length)
    longest = Math.max(longest, length)
  }
  return longest
}
