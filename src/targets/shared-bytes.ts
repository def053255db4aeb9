// Memory that threads can share, wherever the program runs.
//
// A page that is not isolated from others has no `SharedArrayBuffer` by name. Shared memories of WebAssembly are there
// all the same, and their buffers are such; they only cannot be sent to another thread.

let Shared: SharedArrayBufferConstructor | undefined;

/** A shared buffer of so many bytes, all zero. Throws a RangeError where there is no room. */
export function sharedBytes(bytes: number): SharedArrayBuffer {
  Shared ??=
    globalThis.SharedArrayBuffer ??
    (new WebAssembly.Memory({ initial: 0, maximum: 0, shared: true }).buffer
      .constructor as SharedArrayBufferConstructor);
  return new Shared(bytes);
}
