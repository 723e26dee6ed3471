export { MASK, redact } from './core/mask/redact.ts'
