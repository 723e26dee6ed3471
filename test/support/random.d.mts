export declare function fractions(seed: number): () => number
export declare function wholes(seed: number): (below: number) => number
