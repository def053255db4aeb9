// Streams of the web as sinks: `WritableStream`, in a browser and in Node. What was written cannot be taken back.

import { unwritable } from '../../diagnostics/problem.ts';
import { bytesOf, type Sink } from './sink.ts';

/** What a stream of the web has that can be written to: `WritableStream`, by its shape. */
export interface WritableShape {
  getWriter(): {
    write(piece: Uint8Array): Promise<unknown>;
    close(): Promise<unknown>;
    abort(reason?: unknown): Promise<unknown>;
  };
}

/** Whether something is a stream of the web to write to. */
export function isWritable(data: object): data is WritableShape {
  return 'getWriter' in data && typeof data.getWriter === 'function';
}

/** A sink over a stream of the web, which is ours until it is closed. The next piece waits until this one is taken. */
export function webStreamSink(parameter: string, stream: WritableShape): Sink {
  const name = `the stream given for '${parameter}'`;
  const writer = stream.getWriter();
  let isOpen = true;
  const settled = async (promise: Promise<unknown>) => {
    try {
      await promise;
    } catch (cause) {
      throw unwritable(name, cause);
    }
  };
  return {
    name,
    // The reader keeps what it is given, and the chunk's memory serves the next one.
    write: (data) => settled(writer.write(bytesOf(data).slice())),
    async finish() {
      isOpen = false;
      await settled(writer.close());
    },
    publish() {},
    async abandon() {
      if (!isOpen) return;
      isOpen = false;
      await writer.abort(new Error('the job was stopped before its end')).catch(() => {});
    },
  };
}
