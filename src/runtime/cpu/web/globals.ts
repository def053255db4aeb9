// What a browser has and Node has not, by what is used of it; undefined where it is not there.

/** A web worker, seen from the thread that made it. */
export interface WebWorker {
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onerror: ((event: { readonly message?: string; preventDefault?(): void }) => void) | null;
  postMessage(message: unknown): void;
  terminate(): void;
}

interface Locks {
  request(name: string, held: () => unknown): Promise<unknown>;
}

interface WebGlobals {
  readonly Worker?: new (url: string, options?: { readonly name?: string }) => WebWorker;
  readonly crossOriginIsolated?: boolean;
  readonly document?: unknown;
  readonly navigator?: {
    readonly hardwareConcurrency?: number;
    readonly locks?: Locks;
    readonly userAgent?: string;
  };
}

export const web = globalThis as unknown as WebGlobals;
