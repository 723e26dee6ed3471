#!/usr/bin/env node
import { program } from './process/program.ts'

await program(async () => {
  const { certificateName, serve } = await import('./node.ts')
  return { serve, host: { identify: certificateName } }
})
