import { assets } from './page/assets.js'
import type { Page } from './routes/page.ts'

/** The web page, compressed: pass it to `createApp({ page })`. */
export const page: Page = assets
