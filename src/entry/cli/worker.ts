// What is deployed to Cloudflare: workerd takes every export for a handler, so there is only the default one.
export { default } from '../service/cloudflare.ts'
