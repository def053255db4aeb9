// The thread that decodes a column (see threaded-column.ts).

import { parentPort, workerData } from 'node:worker_threads';
import { WarpstageError } from '../diagnostics/error.ts';
import type { TypedArray } from '../kernel/types.ts';
import { hostArrays } from '../kernel/types.ts';
import { ParquetFile } from './parquet-file.ts';
import type { ColumnAnswer, ColumnRequest, ColumnTask } from './threaded-column.ts';

const { path, wanted } = workerData as ColumnTask;
const column = ParquetFile.open(path).then((file) => file.column(wanted));
const Elements: new (buffer: SharedArrayBuffer, byteOffset: number, length: number) => TypedArray =
  hostArrays[wanted.element];

async function answer(request: ColumnRequest): Promise<ColumnAnswer> {
  try {
    if ('skip' in request) {
      await (await column).skip(request.skip);
      return { read: 0 };
    }
    const { buffer, byteOffset, length } = request;
    return { read: await (await column).read(new Elements(buffer, byteOffset, length)) };
  } catch (error) {
    if (error instanceof WarpstageError) return { issues: error.issues };
    throw error;
  }
}

parentPort!.on('message', async (request: ColumnRequest) => {
  parentPort!.postMessage(await answer(request));
});
