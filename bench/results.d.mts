export const DOCUMENTS: string[]
export function readResults(): Record<string, unknown>
export function withFigures(text: string, results: Record<string, unknown>): string
