// The program on Deno; `nodestate/deno` is what is imported.
import { program } from '../process/program.ts'

await program(() => import('../deno.ts'))
