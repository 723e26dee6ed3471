// Runs the statements of a JSON array from standard input in one session, and prints an array with the rows or the
// error of each.
//   echo '["SELECT 1 AS one"]' | node chdb.mjs
import { readFileSync } from 'node:fs'
import { Session } from 'chdb'

const session = new Session()
const answers = []
for (const statement of JSON.parse(readFileSync(0, 'utf8')))
  try {
    const text = session.query(statement, 'JSONEachRow').trim()
    answers.push({ rows: text === '' ? [] : text.split('\n').map((line) => JSON.parse(line)) })
  } catch (error) {
    answers.push({ error: error.message })
  }
session.close()
console.log(JSON.stringify(answers))
