// The program on Deno; `nodestate/deno` is what is imported.
import { serve } from '../entry/deno.ts'
import { program } from '../entry/process/program.ts'
import { startWith } from '../entry/process/start.ts'

await program(startWith(serve))
