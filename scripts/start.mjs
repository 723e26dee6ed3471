// What `npm start` runs: the program, which stops when npm is told to stop.
import { whenOrphaned } from './orphan.mjs'

whenOrphaned(() => process.kill(process.pid, 'SIGTERM'))
await import('../dist/entry/cli.js')
