import { Problem } from '../../core/http/problem.ts'

/** A response as Lambda expects it. */
export interface LambdaResult {
  statusCode: number
  headers: Record<string, string>
  /** For a load balancer that is set to send and take several values of a header. */
  multiValueHeaders?: Record<string, string[]>
  body: string
  isBase64Encoded: boolean
}

const KIB = 1024
/** Lambda accepts responses up to 6 MB, counted after JSON and base64; some of it is reserved for the headers. */
export const LAMBDA_BYTES = 6 * KIB * KIB - 64 * KIB
/** A load balancer accepts 1 MB. */
export const LOAD_BALANCER_BYTES = KIB * KIB - 64 * KIB

/** The response as a result. Throws a Problem if it is larger than the platform accepts. */
export async function toResult(response: Response, most: number): Promise<LambdaResult> {
  const headers = Object.fromEntries(response.headers)
  const bytes = await receive(response, most)
  return { statusCode: response.status, headers, ...encode(bytes, most) }
}

/** Text as text if it is UTF-8, because base64 makes it a third larger; anything else as base64. */
function encode(bytes: Uint8Array, most: number): Pick<LambdaResult, 'body' | 'isBase64Encoded'> {
  try {
    const body = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    if (Buffer.byteLength(JSON.stringify(body)) <= most) return { body, isBase64Encoded: false }
  } catch {
    // Not UTF-8.
  }
  const body = Buffer.from(bytes).toString('base64')
  if (body.length > most) throw tooLarge(most)
  return { body, isBase64Encoded: true }
}

/** The body; once it is larger than any answer can be, no more of it is read. */
async function receive(response: Response, most: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    size += chunk.length
    if (size > most) throw tooLarge(most)
  }
  return Buffer.concat(chunks)
}

function tooLarge(most: number): Problem {
  const [limit, fits] = most === LAMBDA_BYTES ? ['6 MB', 4_000_000] : ['1 MB', 700_000]
  return new Problem(
    'answer-too-large',
    `The answer is larger than the ${limit} that this platform can send; ask for less with size (${fits} always fits).`,
  )
}
