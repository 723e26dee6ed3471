// The program on Bun; `nodestate/bun` is what is imported.
import { program } from '../process/program.ts'

await program(async () => {
  const { serve } = await import('../bun.ts')
  return { serve, host: { sharedMemory: true } }
})
