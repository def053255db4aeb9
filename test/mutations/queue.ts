// Mutations of the queue: when a piece is acknowledged, who may have it, and what a worker takes.

import { mutationsOf } from './mutation.ts';

const long = ['test/queue/queue.test.ts'];

export const mutations = [
  ...mutationsOf('src/queue/worker.ts', long, [
    {
      name: 'a piece is acknowledged before it is computed',
      from: 'await run.compute!(piece, signal);',
      to: 'message.ack();\n      await run.compute!(piece, signal);',
      why: 'a piece whose worker dies is computed by nobody, and the run never ends',
    },
    {
      name: 'a worker says nothing while it computes',
      from: 'const alive = setInterval(() => message.working(), deal.ackWait / 3);',
      to: 'const alive = setInterval(() => {}, deal.ackWait / 3);',
      why: 'pieces that take long are computed by one worker after the other, and end as poison',
    },
    {
      name: 'a piece that has failed too often is tried again',
      from: 'const final = tries >= deal.tries || !mayPass(error);',
      to: 'const final = tries > deal.tries || !mayPass(error);',
      why: 'a run with a piece that always fails waits for the server, and has lost why it fails',
    },
  ]),
  ...mutationsOf('src/cli/worker.ts', long, [
    {
      name: 'the text of a module is not compared',
      from: 'if (sumOfModule(text) !== deal.moduleSum) {',
      to: 'if (sumOfModule(text) === undefined) {',
      why: 'machines with different files compute pieces of one output',
    },
    {
      name: 'files outside of the folder are taken',
      from: 'for (const file of [deal.module, ...files]) await checkWithin(file, folder);',
      to: 'await checkWithin(folder, folder);',
      why: 'who may write to the server has a worker run any module of its machine',
    },
  ]),
  ...mutationsOf('src/overlap/shards/newer.ts', long, [
    {
      name: 'any piece is new enough',
      from: 'at > mtimeNs',
      to: 'at < 0n',
      why: 'an input that was changed between two runs makes an output of old and new pieces, and nobody is told',
    },
  ]),
  ...mutationsOf('src/queue/dealer.ts', long, [
    {
      name: 'the last worker that refuses is waited for',
      from: 'this.#refused.size >= most',
      to: 'this.#refused.size > most',
      why: 'a run whose own workers all refuse never ends',
    },
  ]),
  ...mutationsOf('src/queue/url.ts', long, [
    {
      name: 'a URL that is wrong is shown with its password',
      from: 'and not ${withoutCredentials(all)}`',
      to: 'and not ${all}`',
      why: 'passwords are in the logs of schedulers',
    },
  ]),
  ...mutationsOf('src/overlap/shards/reductions.ts', long, [
    {
      name: 'what an accumulator begins with counts in each piece',
      from: "shard[0] === 1 || typeof declaration.combine === 'function'",
      to: "shard[0] > 0 || typeof declaration.combine === 'function'",
      why: 'a sum over a queue differs from that of one process by what it begins with',
    },
  ]),
  ...mutationsOf('src/overlap/accumulate.ts', long, [
    {
      name: 'parts of a reduction are combined from the last to the first',
      from: 'const [first, ...others] = parts as [TypedArray, ...TypedArray[]];',
      to: 'const [first, ...others] = [...parts].reverse() as [TypedArray, ...TypedArray[]];',
      why: 'a reduction whose order matters gives another value than its order says',
    },
  ]),
];
