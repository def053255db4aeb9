// node count-on-threads.mjs THREADS: so many threads that multiply and add, each as much; prints the seconds from the moment
// when all have begun to the end of the last. What a processor gives more of its cores than it gives few.
import { isMainThread, Worker, workerData } from 'node:worker_threads';

/** Turns of the loop: some seconds. */
const turns = 2e9;

function count(from) {
  let value = from;
  for (let turn = 0; turn < turns; turn++) value = (Math.imul(value, 1664525) + 1013904223) | 0;
  return value;
}

if (isMainThread) {
  const threads = Number(process.argv[2]);
  const begun = new Int32Array(new SharedArrayBuffer(8));
  const workers = Array.from(
    { length: threads },
    () => new Worker(new URL(import.meta.url), { workerData: { begun, threads } }),
  );
  await Atomics.waitAsync(begun, 1, 0).value;
  const began = performance.now();
  await Promise.all(workers.map((worker) => new Promise((done) => worker.once('exit', done))));
  console.log((performance.now() - began) / 1000);
} else {
  const { begun, threads } = workerData;
  if (Atomics.add(begun, 0, 1) === threads - 1) {
    Atomics.store(begun, 1, 1);
    Atomics.notify(begun, 1);
  } else Atomics.wait(begun, 1, 0);
  // So that the loop has a use.
  begun[0] += count(threads);
}
