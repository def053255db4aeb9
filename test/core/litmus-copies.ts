// Litmus programs of copies: by the engine, in another proxy, and by threads, bound to an mbarrier.

import type { Statement } from '#warpstage/compiler/ir.js';
import { load, store } from '../support/ir.ts';
import { type Litmus, threads } from './litmus.ts';
import { bytes, each, litmus } from './litmus-list.ts';

// The proxies

litmus('stores, and then a bulk copy over them', 'race', (l) => {
  const f = l.mbarrier(1);
  return [
    l.set(l.constant(-1)),
    l.sync(),
    l.thread(0, l.bulk(f, 0, threads), l.arriveExpecting(f, bytes)),
    l.wait(f, 0),
    l.readOwn(),
  ];
});

litmus(
  'the same with a fence of those who store',
  'clean',
  (l) => {
    const f = l.mbarrier(1);
    return [
      l.set(l.constant(-1)),
      l.fence(),
      l.sync(),
      l.thread(0, l.bulk(f, 0, threads), l.arriveExpecting(f, bytes)),
      l.wait(f, 0),
      l.readOwn(),
    ];
  },
  each((t) => 100 + t),
);

litmus('the same with a fence of the one that copies', 'clean', (l) => {
  const f = l.mbarrier(1);
  return [
    l.set(l.constant(-1)),
    l.sync(),
    l.thread(0, l.fence(), l.bulk(f, 0, threads), l.arriveExpecting(f, bytes)),
    l.wait(f, 0),
    l.readOwn(),
  ];
});

litmus('the same with the fence before the stores', 'race', (l) => {
  const f = l.mbarrier(1);
  return [
    l.fence(),
    l.set(l.constant(-1)),
    l.sync(),
    l.thread(0, l.bulk(f, 0, threads), l.arriveExpecting(f, bytes)),
    l.wait(f, 0),
    l.readOwn(),
  ];
});

litmus('the same with the fence in a thread that is not on the way', 'race', (l) => {
  const f = l.mbarrier(1);
  return [
    l.set(l.constant(-1)),
    l.sync(),
    l.thread(5, l.fence()),
    l.thread(0, l.bulk(f, 0, threads), l.arriveExpecting(f, bytes)),
    l.wait(f, 0),
    l.readOwn(),
  ];
});

const storeOut = (l: Litmus, ...fence: Statement[]): Statement[] => [
  l.set(),
  ...fence,
  l.sync(),
  l.thread(0, l.bulkStore(), l.bulkCommit(), l.bulkWait(false)),
  l.sync(),
  l.readOwn(l.g),
];
litmus('stores, and then a bulk copy of them', 'race', (l) => storeOut(l));
litmus(
  'the same with a fence',
  'clean',
  (l) => storeOut(l, l.fence()),
  each((t) => t),
);

const fromWritten = (l: Litmus, ...fence: Statement[]): Statement[] => {
  const f = l.mbarrier(1);
  const writes = each((t) => t).map((i) => store(l.g, l.n(i), l.constant(7)));
  return [
    l.thread(0, ...writes, ...fence, l.bulk(f, 0, threads, l.g), l.arriveExpecting(f, bytes)),
    l.wait(f, 0),
    l.readOwn(),
  ];
};
litmus('a bulk copy from what its own thread wrote', 'race', (l) => fromWritten(l));
litmus(
  'the same with a fence of global memory',
  'clean',
  (l) => fromWritten(l, l.fence('global')),
  each(() => 7),
);
litmus('the same with a fence of shared memory', 'race', (l) => fromWritten(l, l.fence('shared')));

const refill = (l: Litmus, ...between: Statement[]): Statement[] => {
  const f = l.mbarrier(1);
  return [
    l.thread(0, l.bulk(f, 0, threads), l.arriveExpecting(f, bytes)),
    l.wait(f, 0),
    l.readOther(),
    ...between,
    l.thread(0, l.bulk(f, 0, threads, l.x, 64), l.arriveExpecting(f, bytes)),
    l.wait(f, 1),
  ];
};
litmus('reads, a block barrier, and a bulk copy over what was read', 'race', (l) => refill(l, l.sync()));
litmus('the same with a fence before the barrier', 'clean', (l) => refill(l, l.fence(), l.sync()));
litmus('the same without the barrier', ['race', 'rule', 'deadlock'], (l) => refill(l, l.fence()));

// Copies of the threads

const producer = (l: Litmus, expected: number, ...then: ((f: number) => Statement)[]): Statement[] => {
  const f = l.mbarrier(expected);
  return [
    l.thread(
      0,
      store(l.g, l.n(0), l.constant(7)),
      l.copy(),
      l.arriveAfterCopies(f, true),
      ...then.map((step) => step(f)),
    ),
    l.thread(1, l.wait(f, 0), l.r.set(load(l.s, l.n(0))), l.q.set(load(l.g, l.n(0)))),
  ];
};
litmus('an arrival behind copies, for what its thread stored', 'race', (l) => producer(l, 1));
litmus(
  'the same with an arrival of the thread besides',
  'clean',
  (l) => producer(l, 2, (f) => l.arrive(f)),
  each((t) => (t === 1 ? 107 : 0)),
);

const throughProducer = (l: Litmus, expected: number, ...then: ((f: number) => Statement)[]): Statement[] => {
  const f = l.mbarrier(expected);
  const e = l.mbarrier(2, 'e');
  return [
    l.thread(1, store(l.g, l.n(0), l.constant(7)), l.arrive(e)),
    l.thread(2, l.arrive(e), l.wait(f, 0), l.r.set(load(l.g, l.n(0)))),
    l.thread(0, l.wait(e, 0), l.copy(), l.arriveAfterCopies(f, true), ...then.map((step) => step(f))),
    l.thread(3, l.wait(f, 0)),
  ];
};
litmus('what passes through a producer that only copies', 'race', (l) => throughProducer(l, 1));
litmus('the same where the producer arrives besides', 'clean', (l) =>
  throughProducer(l, 2, (f) => l.arrive(f)),
);

litmus('an arrival behind copies that adds to what is expected, and no other', 'deadlock', (l) => {
  const f = l.mbarrier(threads);
  return [l.copy(), l.arriveAfterCopies(f, false), l.wait(f, 0)];
});

litmus('an arrival behind copies that adds, and one of the thread', 'clean', (l) => {
  const f = l.mbarrier(threads);
  return [l.copy(), l.arriveAfterCopies(f, false), l.arrive(f), l.wait(f, 0), l.readOther()];
});

litmus('two arrivals a thread where one is expected', ['race', 'rule'], (l) => {
  const f = l.mbarrier(threads);
  return [l.copy(), l.arriveAfterCopies(f, true), l.arrive(f), l.wait(f, 0), l.readOther()];
});
