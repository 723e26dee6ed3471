/** Numbers from 0 up to 1, the same ones each run: what fails once fails again. */
export function fractions(seed) {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** Whole numbers from 0 up to a border, the same ones each run. */
export function wholes(seed) {
  const fraction = fractions(seed)
  return (below) => Math.floor(fraction() * below)
}
