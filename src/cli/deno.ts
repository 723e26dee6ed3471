// The program on Deno; `nodestate/deno` is what is imported.
import { program } from '../entry/process/program.ts'

await program(() => import('../entry/deno.ts'))
