// The state of a job between two chunks, as bytes: what its accumulators hold on each device, one after the other.

import type { BoundJob } from './chunks.ts';
import type { TypedArray } from './job.ts';

type Accumulating = Pick<BoundJob, 'places' | 'accumulators'>;

/** What the accumulators hold now. No kernel may be under way. */
export async function readState({ places, accumulators }: Accumulating): Promise<Uint8Array> {
  const parts = await Promise.all(
    places.map(async ({ accumulated, stream }) => {
      const hosts = accumulators.map((accumulator) => accumulator.host());
      for (const [i, { name }] of accumulators.entries()) stream.memcpyAsync(hosts[i]!, accumulated[name]!);
      await stream.synchronize();
      return hosts.map(bytesOfHost);
    }),
  );
  const all = parts.flat();
  const state = new Uint8Array(all.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of all) {
    state.set(part, at);
    at += part.length;
  }
  return state;
}

/** Has the accumulators hold what they held. */
export async function writeState({ places, accumulators }: Accumulating, state: Uint8Array): Promise<void> {
  let at = 0;
  for (const { accumulated, stream } of places) {
    for (const accumulator of accumulators) {
      const host = accumulator.host();
      const bytes = bytesOfHost(host);
      bytes.set(state.subarray(at, at + bytes.length));
      at += bytes.length;
      stream.memcpyAsync(accumulated[accumulator.name]!, host);
    }
    await stream.synchronize();
  }
}

function bytesOfHost({ buffer, byteOffset, byteLength }: TypedArray): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
