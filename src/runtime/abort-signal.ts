// `AbortSignal`, for programs with the DOM's types, with Node's, or with neither.

/** What a signal has everywhere. */
export interface SignalShape {
  readonly aborted: boolean;
}

/** The global `AbortSignal` where its type is known. */
export type Cancelling = typeof globalThis extends { AbortSignal: { prototype: infer S } } ? S : SignalShape;
