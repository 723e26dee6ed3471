#!/usr/bin/env node
import cluster from 'node:cluster'
import { program } from './entry/process/program.ts'
import { serveAsWorker, startNodeOrWorkers } from './entry/process/workers.ts'

if (cluster.isWorker) serveAsWorker()
else await program(startNodeOrWorkers)
