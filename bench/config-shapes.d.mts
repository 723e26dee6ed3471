export declare const SHAPES: Readonly<Record<string, (bytes: number) => string>>
