/**
 * Faults of the product that worlds have found and that are not mended yet. Worlds avoid them, so that others show.
 * Whoever mends one deletes its line, and what uses it.
 */
export const KNOWN = {
  /**
   * A follower of a timeline that finds a new log begins in it by time: of records that a clock wrote after it stepped
   * back, it misses those that were there when the log was found.
   */
  newLogsByTime: true,
  /**
   * A follower of a timeline whose place is in an empty file misses what is written, copied and truncated before it looks
   * again: nothing in the empty file shows it.
   */
  emptyPlaces: true,
}
