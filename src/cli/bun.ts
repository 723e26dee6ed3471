// The program on Bun; `nodestate/bun` is what is imported.
import { program } from '../entry/process/program.ts'

await program(async () => {
  const { serve } = await import('../entry/bun.ts')
  return { serve, host: { sharedMemory: true } }
})
