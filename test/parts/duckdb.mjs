// Runs one query and prints its rows as JSON.
//   node duckdb.mjs 'SELECT 1'
import { DuckDBInstance } from '@duckdb/node-api'

const instance = await DuckDBInstance.create(':memory:')
const connection = await instance.connect()
const rows = await connection.runAndReadAll(process.argv[2])
console.log(JSON.stringify(rows.getRowsJson()))
