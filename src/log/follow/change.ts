/** What happened to a log: bytes were appended, whole lines arrived late, or something happened to its file. */
export type Change =
  | { kind: 'data'; name: string; id: string | null; offset: number; bytes: Uint8Array }
  | { kind: 'late'; bytes: Uint8Array }
  | { kind: 'rotated'; file: string; to: string }
  | { kind: 'truncated'; file: string }
  | { kind: 'gap'; file: string }
