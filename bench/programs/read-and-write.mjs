// node read-and-write.mjs INPUT OUTPUT THREADS: what a program without a kernel takes, with as many threads that read
// and write pieces of 256 KiB; prints the seconds from the first thread's start to the last one's end.
import { closeSync, fstatSync, openSync, readSync, renameSync, writeSync } from 'node:fs';
import { isMainThread, Worker, workerData } from 'node:worker_threads';

const piece = 256 * 1024;

if (isMainThread) {
  const [input, output, threads] = process.argv.slice(2);
  const began = performance.now();
  const from = openSync(input, 'r');
  const into = openSync(`${output}.partial`, 'wx');
  const next = new SharedArrayBuffer(4);
  const data = { from, into, next };
  const ended = () =>
    new Promise((done) => new Worker(new URL(import.meta.url), { workerData: data }).on('exit', done));
  await Promise.all(Array.from({ length: Number(threads) }, ended));
  closeSync(into);
  renameSync(`${output}.partial`, output);
  console.log((performance.now() - began) / 1000);
} else {
  const { from, into, next } = workerData;
  const taken = new Int32Array(next);
  const bytes = new Uint8Array(piece);
  const { size } = fstatSync(from);
  for (;;) {
    const position = Atomics.add(taken, 0, 1) * piece;
    if (position >= size) break;
    const length = readSync(from, bytes, 0, piece, position);
    writeSync(into, bytes, 0, length, position);
  }
}
