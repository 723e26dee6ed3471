import { CALM, cpuTimes, noiseSince } from './noise.mjs'

/**
 * Measures several in short turns, A B C, C B A, and so on: who comes after whom must not count. `once` measures one
 * of them once. Gives for each, by index, the median of each figure and its figures of each round. A round in which
 * the host took the CPU away is taken anew while there is time to spare: it is told by what the host took, never by a
 * figure.
 */
export async function takeTurns(all, once, { rounds, seconds, spare }) {
  const taken = []
  const next = async () => {
    const order = [...all.keys()]
    if (taken.length % 2 === 1) order.reverse()
    return takeRound(all, order, once, taken[1], seconds)
  }
  for (let i = 0; i < rounds; i++) taken.push(await next())
  const calm = () => taken.filter((round) => round.stolen <= CALM)
  while (calm().length < rounds && spare.left > taken.at(-1).took) {
    const round = await next()
    spare.spend(round.took)
    taken.push(round)
  }
  const counted = taken.toSorted((a, b) => a.stolen - b.stolen).slice(0, Math.max(rounds, calm().length))
  spare.rounds += taken.length
  spare.loud += counted.filter((round) => round.stolen > CALM).length
  return all.map((_, i) => {
    const turns = counted.map((round) => round.turns[i])
    return { ...medians(turns), turns }
  })
}

/** One turn of each. What takes much longer than asked has two of them: the others would wait for nothing. */
async function takeRound(all, order, once, second, seconds = Number.POSITIVE_INFINITY) {
  const start = performance.now()
  const turns = []
  for (const i of order) {
    const known = second?.turns[i]
    if (known?.took > 8 * seconds) {
      turns[i] = known
      continue
    }
    const before = cpuTimes()
    const turnStart = performance.now()
    const figures = await once(all[i])
    turns[i] = {
      ...figures,
      stolen: noiseSince(before).stolen,
      took: (performance.now() - turnStart) / 1000,
    }
  }
  const stolen = Math.max(...turns.map((turn) => turn.stolen))
  return { turns, stolen, took: (performance.now() - start) / 1000 }
}

/**
 * One figure of one server against another's: the median over the rounds. The speed of a virtual machine changes
 * from second to second; in one round it is nearly the same for both.
 */
export function ratioOf(figure, mine, theirs) {
  return median(mine.turns.map((turn, i) => turn[figure] / theirs.turns[i][figure]))
}

function medians(turns) {
  const result = {}
  for (const key in turns[0]) result[key] = median(turns.map((turn) => turn[key]))
  return result
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2
}
