#!/usr/bin/env node
import cluster from 'node:cluster'
import { program } from './entry/program.ts'
import { serveAsWorker, startNodeOrWorkers } from './entry/workers.ts'

if (cluster.isWorker) serveAsWorker()
else await program(startNodeOrWorkers)
