// A hostile writer: appends, truncates, replaces, copy-truncates and regrows one log file until its time is over.
// Its lines tell where they belong: generation, number, and a filling that follows from both.
// Usage: node writer.mjs DIRECTORY SEED MILLISECONDS. Tells on stdout what is surely in the file by then.
import { closeSync, copyFileSync, fstatSync, ftruncateSync, openSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { wholes } from '../../support/random.mjs'

const [directory, seed, milliseconds] = process.argv.slice(2)
const path = join(directory, 'model.log')
const random = wholes(Number(seed))

/** Some lines of equal length, others not: a regrown file then has line starts at the places of the old ones. */
const line = (generation, number) => {
  const filling = generation % 2 ? 100 : 20 + ((Math.imul(generation + number, 2654435761) >>> 0) % 180)
  return `${String(generation).padStart(6, '0')} ${String(number).padStart(8, '0')} ${'x'.repeat(filling)}\n`
}

let generation = 0
let number = 0
let fd = openSync(path, 'a+')
const lines = (count) => {
  let text = ''
  for (let i = 0; i < count; i++) text += line(generation, number++)
  return text
}
const append = (count) => writeSync(fd, lines(count))
const restart = () => {
  generation++
  number = 0
}

const operations = {
  append: () => append(1 + random(5)),
  burst: () => append(200 + random(4000)),
  truncate() {
    restart()
    ftruncateSync(fd)
    append(1 + random(50))
  },
  // To just beyond the old size at once: nothing but the bytes can tell.
  regrow() {
    const { size } = fstatSync(fd)
    restart()
    let text = ''
    while (text.length <= size) text += lines(50)
    ftruncateSync(fd)
    writeSync(fd, text)
  },
  copyTruncate() {
    copyFileSync(path, `${path}.1`)
    operations.regrow()
  },
  replace() {
    restart()
    const next = openSync(`${path}.new`, 'w+')
    closeSync(fd)
    closeSync(next)
    fd = openSync(`${path}.new`, 'a+')
    append(1 + random(2000))
    renameSync(`${path}.new`, path)
  },
  rotate() {
    renameSync(path, `${path}.1`)
    closeSync(fd)
    restart()
    fd = openSync(path, 'a+')
    append(1 + random(100))
  },
}
const weights = { append: 60, burst: 8, truncate: 3, regrow: 10, copyTruncate: 2, replace: 3, rotate: 2 }
const choices = Object.entries(weights).flatMap(([name, weight]) => Array(weight).fill(name))

const end = Date.now() + Number(milliseconds)
while (Date.now() < end) {
  operations[choices[random(choices.length)]]()
  // A file that only ever grows would soon be all that is tested.
  if (fstatSync(fd).size > 6 * 1024 * 1024) operations.truncate()
  process.stdout.write(`${generation} ${number}\n`)
  if (random(3) > 0) await new Promise((done) => setTimeout(done, random(8)))
}
