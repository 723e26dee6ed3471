import type { Page } from '../../routes/page.js'

export declare const assets: Page
