import type { Page } from '../routes/page.ts'
import { assets } from './page/assets.js'

/** The web page, compressed: pass it to `createApp({ page })`. */
export const page: Page = assets
