import type { DifferentKey, NodeInfo } from '../../../kit/answers.ts'
import type { Budget } from '../../../kit/limits/budget.ts'
import type { Lease } from '../../../kit/limits/memory-budget.ts'
import { byCodePoint } from '../../../store/store.ts'
import { withoutOwnNames } from './own-names.ts'
import type { ConfigValues } from './values.ts'

/** Thrown when the differences do not fit into one answer. */
export class TooManyDifferences extends Error {}

/** How many nodes must each have their own value for that to be on purpose. */
const FEWEST_DISTINCT = 4
/** Bytes that a key, a value and a node cost beside their text. */
const KEY_BYTES = 200
const VALUE_BYTES = 100
const NODE_BYTES = 8

export interface AddedNode {
  id: string
  node: NodeInfo | null
  values: ConfigValues
  /** Where the memory for it is counted. @default nowhere */
  memory?: Lease | undefined
}

interface Compared {
  id: string
  simplify: (text: string) => string
}

/** Compares the configurations of many nodes, one after the other: only what is different is held more than once. */
export class Comparison {
  readonly #nodes: Compared[] = []
  /** The nodes that have a value, by key and value. */
  readonly #keys = new Map<string, Map<string, number[]>>()
  /** The nodes where a key is a table or an array of tables that holds something. */
  readonly #holders = new Map<string, Set<number>>()

  /** Adds a node; false if the memory does not suffice, and then it is as if it had not been added. */
  add({ id, node, values: { values, holders }, memory }: AddedNode): boolean {
    let bytes = NODE_BYTES * holders.size
    for (const [key, value] of values) {
      const known = this.#keys.get(key)
      bytes += NODE_BYTES
      if (!known) bytes += KEY_BYTES + 2 * key.length
      if (!known?.has(value)) bytes += VALUE_BYTES + 2 * value.length
    }
    if (memory && !memory.grow(bytes)) return false
    const index = this.#nodes.push({ id, simplify: withoutOwnNames(id, node) }) - 1
    for (const [key, value] of values) {
      const known = this.#keys.get(key) ?? new Map<string, number[]>()
      this.#keys.set(key, known)
      const nodes = known.get(value)
      if (nodes) nodes.push(index)
      else known.set(value, [index])
    }
    for (const key of holders) this.#holders.set(key, (this.#holders.get(key) ?? new Set()).add(index))
    return true
  }

  get nodes(): string[] {
    return this.#nodes.map(({ id }) => id).sort(byCodePoint)
  }

  /**
   * The keys that differ: first those where few nodes differ from a clear majority, last those that differ on purpose.
   * Throws TooManyDifferences if they take more than `most` bytes.
   */
  async differences(budget: Budget, most: number): Promise<DifferentKey[]> {
    const found: { rank: number; different: DifferentKey }[] = []
    let left = most
    for (const [key, values] of this.#keys) {
      // The work is bounded by the memory that was leased: it yields, and ends only with its client.
      await budget.step()
      const groups = this.#groups(key, values)
      if (groups.length < 2) continue
      const { expected, majority } = this.#judge(groups)
      const few = this.#nodes.length - majority <= this.#nodes.length / 3
      const different = { key, values: groups.map((group) => this.#show(group)), expected }
      left -= JSON.stringify(different).length
      if (left < 0) throw new TooManyDifferences()
      found.push({ rank: expected ? 2 : few ? 0 : 1, different })
    }
    found.sort((a, b) => a.rank - b.rank || byCodePoint(a.different.key, b.different.key))
    return found.map(({ different }) => different)
  }

  /** The nodes by their value of a key, most nodes first; null where it is not set. */
  #groups(key: string, values: ReadonlyMap<string, readonly number[]>): Group[] {
    const groups: Group[] = [...values].map(([value, nodes]) => ({ value, nodes }))
    const set = new Set(groups.flatMap(({ nodes }) => nodes))
    const unset = this.#nodes.map((_, index) => index).filter((index) => !set.has(index))
    // An empty table differs from one that holds something by what that one holds.
    const isEmpty = groups.every(({ value }) => value === '{}' || value === '[]')
    const holding = isEmpty ? this.#holders.get(key) : undefined
    if (unset.some((index) => !holding?.has(index))) groups.push({ value: null, nodes: unset })
    return groups.sort((a, b) => b.nodes.length - a.nodes.length || byCodePoint(a.value ?? '', b.value ?? ''))
  }

  /** Whether values differ on purpose, and how many nodes have the most common one, own names aside. */
  #judge(groups: readonly Group[]): { expected: boolean; majority: number } {
    const simple = new Map<string | null, number>()
    for (const { value, nodes } of groups)
      for (const index of nodes) {
        const text = value === null ? null : this.#nodes[index]!.simplify(value)
        simple.set(text, (simple.get(text) ?? 0) + 1)
      }
    const isSet = !groups.some(({ value }) => value === null)
    const isDistinct = groups.length === this.#nodes.length && groups.length >= FEWEST_DISTINCT
    return {
      expected: isSet && (isDistinct || simple.size === 1),
      majority: Math.max(groups[0]!.nodes.length, ...simple.values()),
    }
  }

  #show({ value, nodes }: Group): DifferentKey['values'][number] {
    const ids = nodes.map((index) => this.#nodes[index]!.id).sort(byCodePoint)
    return value === null ? { nodes: ids } : { value, nodes: ids }
  }
}

interface Group {
  value: string | null
  nodes: readonly number[]
}
