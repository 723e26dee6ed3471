// A writer of one large log: appends, truncates, replaces, copy-truncates and regrows it, with long rests in between.
// Its lines tell where they belong: generation and number. Usage: node bun-writer.mjs DIRECTORY SEED MILLISECONDS.
import { closeSync, copyFileSync, fstatSync, ftruncateSync, openSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { wholes } from '../support/random.mjs'

const [directory, seed, milliseconds] = process.argv.slice(2)
const path = join(directory, 'model.log')
const MIB = 1024 * 1024
const random = wholes(Number(seed))

let generation = 0
let number = 0
let fd = openSync(path, 'a+')
const lines = (bytes) => {
  let text = ''
  while (text.length < bytes)
    text += `${String(generation).padStart(6, '0')} ${String(number++).padStart(8, '0')} ${'x'.repeat(84)}\n`
  return text
}
const append = (bytes) => writeSync(fd, lines(bytes))
const restart = () => {
  generation++
  number = 0
}
const operations = {
  append: () => append(1 + random(50_000)),
  truncate() {
    restart()
    ftruncateSync(fd)
    append(1 + random(MIB))
  },
  // To just beyond the old size at once: nothing but the bytes can tell.
  regrow() {
    const { size } = fstatSync(fd)
    restart()
    const text = lines(Math.max(size, 6 * MIB) + 1)
    ftruncateSync(fd)
    writeSync(fd, text)
  },
  copyTruncate() {
    copyFileSync(path, `${path}.1`)
    operations.regrow()
  },
  replace() {
    restart()
    closeSync(fd)
    fd = openSync(`${path}.new`, 'w+')
    append(6 * MIB + random(MIB))
    renameSync(`${path}.new`, path)
    closeSync(fd)
    fd = openSync(path, 'a+')
  },
}
const names = Object.keys(operations)

append(7 * MIB)
process.stdout.write('ready\n')
const end = Date.now() + Number(milliseconds)
for (let turn = 0; Date.now() < end; turn++) {
  // Long enough that it counts as at rest, and then some of every kind while answers are on their way.
  await sleep(2_100 + random(500))
  for (let i = random(4); i >= 0; i--) {
    operations[names[(turn + random(2)) % names.length]]()
    await sleep(random(30))
  }
  const { size } = fstatSync(fd)
  if (size < 6 * MIB) append(6 * MIB - size)
  if (size > 9 * MIB) operations.replace()
}
