#!/usr/bin/env node
import { program } from './entry/process/program.ts'

await program(async () => {
  const { certificateName, serve } = await import('./entry/node.ts')
  return { serve, host: { identify: certificateName } }
})
