#!/usr/bin/env node
import { serve } from './entry/node.ts'
import { program } from './entry/process/program.ts'
import { startWith } from './entry/process/start.ts'
import { certificateName } from './entry/server/certificate-name.ts'

await program(startWith(serve, { identify: certificateName }))
