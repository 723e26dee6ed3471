export function countReads(size: number): Promise<number>
