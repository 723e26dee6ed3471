import { readFileSync } from 'node:fs'

/** A round does not count if the host took more than this share of the CPU time in one of its turns. */
export const CALM = 0.05

/** Where the CPU time of the machine went until now, in ticks. */
export function cpuTimes() {
  const [user, nice, system, idle, iowait, irq, softirq, steal] = /^cpu +(.*)$/m
    .exec(readFileSync('/proc/stat', 'utf8'))[1]
    .split(' ')
    .map(Number)
  return { wanted: user + nice + system + irq + softirq + steal, idle, iowait, steal }
}

/**
 * Shares of CPU time since then: what the host gave to others while we wanted it, of all that was wanted, and what
 * waited for a disk, of all there was.
 */
export function noiseSince(before) {
  const after = cpuTimes()
  const part = (name) => after[name] - before[name]
  const all = part('wanted') + part('idle') + part('iowait')
  return { stolen: part('steal') / Math.max(1, part('wanted')), iowait: part('iowait') / Math.max(1, all) }
}

/**
 * Time to repeat rounds that were not calm: each row may use its part and what the rows before it left, so that a
 * noisy day ends in time too.
 */
export class Spare {
  #seconds
  #rows
  #row = 0
  #spent = 0
  /** Rounds in all, rounds that were repeated, and rounds that counted although they were not calm. */
  rounds = 0
  repeated = 0
  loud = 0

  constructor(seconds, rows) {
    this.#seconds = seconds
    this.#rows = rows
  }

  nextRow() {
    this.#row++
  }

  get left() {
    return (this.#seconds * this.#row) / this.#rows - this.#spent
  }

  spend(seconds) {
    this.#spent += seconds
    this.repeated++
  }
}
