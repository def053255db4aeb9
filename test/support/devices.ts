// The devices that tests of the runtime run on.

import type { OpenOptions } from 'warpstage';

/** Every kind of device that is here, for `describe.each`. */
export const devices = [
  { name: 'cpu, wasm, two threads', options: { target: 'wasm', threads: 2 }, ranOn: /^wasm/ },
  { name: 'cpu, wasm, one thread', options: { target: 'wasm', threads: 1 }, ranOn: /^wasm/ },
  { name: 'cpu, interpreter', options: { target: 'interpreter' }, ranOn: /^interpreter$/ },
] as const satisfies { name: string; options: OpenOptions; ranOn: RegExp }[];
