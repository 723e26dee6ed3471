/**
 * The heights of a list's rows, summed in a Fenwick tree: where a row begins and which row lies at an offset are
 * both found in O(log n), with a million rows as with a hundred.
 */
export class Heights {
  #value = new Float32Array(1024)
  #tree = new Float64Array(1025)
  #length = 0

  get length(): number {
    return this.#length
  }

  get total(): number {
    return this.top(this.#length)
  }

  get(index: number): number {
    return this.#value[index] ?? 0
  }

  /** The sum of all rows before `index`. */
  top(index: number): number {
    let sum = 0
    for (let i = Math.min(index, this.#length); i > 0; i -= i & -i) sum += this.#tree[i]!
    return sum
  }

  /** The row that covers `offset`; the first or last one beyond the ends. */
  at(offset: number): number {
    if (this.#length === 0) return 0
    let index = 0
    let rest = offset
    for (let bit = 2 ** Math.floor(Math.log2(this.#length)); bit >= 1; bit /= 2) {
      const next = index + bit
      if (next <= this.#length && this.#tree[next]! <= rest) {
        index = next
        rest -= this.#tree[next]!
      }
    }
    return Math.min(Math.max(index, 0), this.#length - 1)
  }

  set(index: number, height: number): void {
    const change = height - this.#value[index]!
    if (change === 0) return
    this.#value[index] = height
    for (let i = index + 1; i <= this.#length; i += i & -i) this.#tree[i]! += change
  }

  /** Rows at the end: O(log n) each, because a follow appends them one by one. */
  #append(heights: ArrayLike<number>): void {
    this.#reserve(this.#length + heights.length)
    for (let k = 0; k < heights.length; k++) {
      const index = ++this.#length
      this.#value[index - 1] = heights[k]!
      let sum = this.#value[index - 1]!
      for (let i = index - 1; i > index - (index & -index); i -= i & -i) sum += this.#tree[i]!
      this.#tree[index] = sum
    }
  }

  /** Replaces rows: the tree is built anew, unless they come at the end. */
  splice(index: number, removed: number, heights: ArrayLike<number>): void {
    if (index === this.#length) return void this.#append(heights)
    const all = new Float32Array(this.#length - removed + heights.length)
    all.set(this.#value.subarray(0, index))
    all.set(heights, index)
    all.set(this.#value.subarray(index + removed, this.#length), index + heights.length)
    this.reset(all)
  }

  reset(heights: ArrayLike<number>): void {
    this.#length = 0
    this.#reserve(heights.length)
    this.#length = heights.length
    this.#value.set(heights, 0)
    this.#tree.fill(0)
    for (let i = 1; i <= this.#length; i++) {
      this.#tree[i]! += this.#value[i - 1]!
      const parent = i + (i & -i)
      if (parent <= this.#length) this.#tree[parent]! += this.#tree[i]!
    }
  }

  #reserve(length: number): void {
    if (length <= this.#value.length) return
    const capacity = Math.max(length, this.#value.length * 2)
    const value = new Float32Array(capacity)
    value.set(this.#value.subarray(0, this.#length))
    const tree = new Float64Array(capacity + 1)
    tree.set(this.#tree.subarray(0, this.#length + 1))
    this.#value = value
    this.#tree = tree
  }
}
