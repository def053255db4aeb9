// The thread that decodes an array (see threaded-source.ts). It opens the file itself.

import { parentPort, workerData } from 'node:worker_threads';
import { WarpstageError } from '../diagnostics/error.ts';
import { problem } from '../diagnostics/problem.ts';
import { hostArrays, type TypedArray } from '../kernel/types.ts';
import { openBytes } from './bytes.ts';
import type { Format } from './format.ts';
import { openContents, sourceOf } from './open-file.ts';
import type { Source } from './source.ts';
// Types alone: what that file loads besides, this thread need not.
import type { DecodingAnswer, DecodingRequest, DecodingTask, ThreadReady } from './threaded-source.ts';

const { module, format: name, path, dtype, wanted } = workerData as DecodingTask;
const source = open();
// An error is the answer to the first request.
source.catch(() => {}).finally(() => parentPort!.postMessage('ready' satisfies ThreadReady));
const Elements: new (buffer: SharedArrayBuffer, byteOffset: number, length: number) => TypedArray =
  hostArrays[wanted.element];

async function open(): Promise<Source> {
  const exports: Readonly<Record<string, unknown>> = await import(module);
  const isIt = (value: unknown): value is Format => (value as Partial<Format> | null)?.name === name;
  const format = Object.values(exports).find(isIt);
  if (format === undefined) {
    const message = `${path} cannot be decoded in a thread: ${module} exports no format '${name}'`;
    throw problem('WS5004', message, "export what registerFormat is given from the format's `module`");
  }
  const contents = await openContents(format, await openBytes(path), { dtype });
  return sourceOf(path, format, contents, wanted);
}

async function answer(request: DecodingRequest): Promise<DecodingAnswer> {
  try {
    if ('skip' in request) return { read: await (await source).skip!(request.skip) };
    const { buffer, byteOffset, length } = request;
    return { read: await (await source).read(new Elements(buffer, byteOffset, length)) };
  } catch (error) {
    if (error instanceof WarpstageError) return { issues: error.issues };
    throw error;
  }
}

parentPort!.on('message', async (request: DecodingRequest) => {
  parentPort!.postMessage(await answer(request));
});
