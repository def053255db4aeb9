// The post's three schedules of the same work: copy in, compute, copy out, in parts.

import type { Device, DeviceArray, PinnedArray, Stream } from 'warpstage';
import { process } from './process.ts';

/** The work: `host.length` elements, computed in blocks of `blockSize` threads. */
export interface Work {
  readonly device: Device;
  readonly host: PinnedArray<'f32'>;
  readonly data: DeviceArray<'f32'>;
  readonly blockSize: number;
}

/** Everything in one stream: nothing overlaps. */
export function sequential({ host, data, blockSize }: Work, stream: Stream): void {
  stream.memcpyAsync(data, host);
  stream.launch(process, { grid: host.length / blockSize, block: blockSize }, { a: data, offset: 0 });
  stream.memcpyAsync(host, data);
}

/** V1: for each part its copy in, its kernel and its copy out, each part in its own stream. */
export function asynchronousV1({ host, data, blockSize }: Work, streams: readonly Stream[]): void {
  const size = host.length / streams.length;
  for (const [part, stream] of streams.entries()) {
    const offset = part * size;
    stream.memcpyAsync(data.subarray(offset, offset + size), host.subarray(offset, offset + size));
    stream.launch(process, { grid: size / blockSize, block: blockSize }, { a: data, offset });
    stream.memcpyAsync(host.subarray(offset, offset + size), data.subarray(offset, offset + size));
  }
}

/** V2: first all copies in, then all kernels, then all copies out, with the same streams. */
export function asynchronousV2({ host, data, blockSize }: Work, streams: readonly Stream[]): void {
  const size = host.length / streams.length;
  for (const [part, stream] of streams.entries()) {
    const offset = part * size;
    stream.memcpyAsync(data.subarray(offset, offset + size), host.subarray(offset, offset + size));
  }
  for (const [part, stream] of streams.entries()) {
    const grid = size / blockSize;
    stream.launch(process, { grid, block: blockSize }, { a: data, offset: part * size });
  }
  for (const [part, stream] of streams.entries()) {
    const offset = part * size;
    stream.memcpyAsync(host.subarray(offset, offset + size), data.subarray(offset, offset + size));
  }
}
