/**
 * Faults of the product that worlds have found and that are not mended yet. Worlds avoid them, so that others show.
 * Whoever mends one deletes its line, and what uses it.
 */
export const KNOWN = {
  /**
   * Files with rising numbers whose clock was set back may be put in the order of falling numbers without a note, because
   * the records agree with it, though the times of change do not: seed 296.
   */
  noSteppedRising: true,
}
