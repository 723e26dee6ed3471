// The program on Bun; `nodestate/bun` is what is imported.
import { serve } from '../entry/bun.ts'
import { program } from '../entry/process/program.ts'
import { startWith } from '../entry/process/start.ts'

await program(startWith(serve, { sharedMemory: true }))
