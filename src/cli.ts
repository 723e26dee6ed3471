#!/usr/bin/env node
import { startNode } from './entry/node.ts'
import { program } from './entry/program.ts'

await program(startNode)
