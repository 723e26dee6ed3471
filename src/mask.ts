export { MASK, redact } from './mask/redact.ts'
