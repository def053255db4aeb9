// Litmus programs of mbarriers: what arrivals and waits order, and which phase is which.

import type { Statement } from '#warpstage/compiler/ir.js';
import { add, compare, core, load, store, subtract, when } from '../support/ir.ts';
import { type Litmus, threads } from './litmus.ts';
import { bytes, each, half, litmus, other } from './litmus-list.ts';

// Arrivals

litmus(
  'a message by an arrival that releases',
  'clean',
  (l) => {
    const f = l.mbarrier(1);
    return [
      l.thread(0, l.set(l.constant(1), l.n(0)), l.arrive(f)),
      l.thread(1, l.wait(f, 0), l.r.set(load(l.s, l.n(0)))),
    ];
  },
  each((t) => (t === 1 ? 1 : 0)),
);

litmus('a message by a relaxed arrival', 'race', (l) => {
  const f = l.mbarrier(1);
  return [
    l.thread(0, l.set(l.constant(1), l.n(0)), l.arrive(f, { order: 'relaxed' })),
    l.thread(1, l.wait(f, 0), l.r.set(load(l.s, l.n(0)))),
  ];
});

litmus("one thread's arrival for what all stored", 'race', (l) => {
  const f = l.mbarrier(1);
  return [l.sync(), l.set(), l.thread(0, l.arrive(f)), l.wait(f, 0), l.readOther()];
});

litmus(
  'the same behind a block barrier',
  'clean',
  (l) => {
    const f = l.mbarrier(1);
    return [l.sync(), l.set(), l.sync(), l.thread(0, l.arrive(f)), l.wait(f, 0), l.readOther()];
  },
  each(other),
);

litmus(
  'the same with an arrival of every thread',
  'clean',
  (l) => {
    const f = l.mbarrier(threads);
    return [l.sync(), l.set(), l.arrive(f), l.wait(f, 0), l.readOther()];
  },
  each(other),
);

litmus('a stage half copied and half stored, with one arrival', 'race', (l) => {
  const f = l.mbarrier(1);
  return [
    l.sync(),
    l.thread(0, l.bulk(f, 0, half), l.arriveExpecting(f, 4 * half)),
    when(compare('greaterEqual', l.t, l.n(half)), [l.set(l.constant(-1))]),
    l.wait(f, 0),
    l.readOther(),
  ];
});

litmus(
  'a stage half copied and half stored, with an arrival of every thread',
  'clean',
  (l) => {
    const f = l.mbarrier(threads);
    return [
      l.sync(),
      when(
        l.is(0),
        [l.bulk(f, 0, half), l.arriveExpecting(f, 4 * half)],
        [when(compare('greaterEqual', l.t, l.n(half)), [l.set(l.constant(-1))]), l.arrive(f)],
      ),
      l.wait(f, 0),
      l.readOther(),
    ];
  },
  each((t) => (other(t) < half ? 100 + other(t) : -1)),
);

/** Four turns of a ring with two stages in flight; a block barrier in the turns that `syncs` names. */
function ring(l: Litmus, syncs: (turn: number) => boolean): Statement[] {
  const stages = Array.from({ length: 4 }, (_, i) => l.mbarrier(1, `f${i}`));
  const fill = (batch: number): Statement[] => [
    l.thread(0, l.bulk(stages[batch % 4]!, 8 * (batch % 4), 8), l.arriveExpecting(stages[batch % 4]!, 32)),
  ];
  const turn = (c: number): Statement[] => [
    l.wait(stages[c % 4]!, Math.floor(c / 4)),
    l.r.set(load(l.s, add(l.n(8 * (c % 4)), l.t))),
    store(l.g, add(l.n(threads * c), l.t), l.constant(c + 1)),
    ...(c === 0 ? [] : [l.q.set(load(l.g, add(l.n(threads * (c - 1)), subtract(l.n(threads - 1), l.t))))]),
    ...(syncs(c) ? [l.sync()] : []),
    ...(c + 2 < 4 ? fill(c + 2) : []),
  ];
  return [...fill(0), ...fill(1), ...[0, 1, 2, 3].flatMap(turn)];
}

litmus('a block barrier left out in every other turn', 'race', (l) => ring(l, (turn) => turn % 2 === 0));
litmus('a block barrier in every turn', 'clean', (l) => ring(l, () => true));

// Phases

litmus('a thread that sleeps through a phase', ['rule', 'deadlock', 'clean'], (l) => {
  const f = l.mbarrier(1);
  return [l.thread(0, l.arrive(f), l.wait(f, 0), l.arrive(f), l.wait(f, 1)), l.thread(1, l.wait(f, 0))];
});

litmus('a wait for a phase that is not yet current, whose parity is true', ['rule', 'clean'], (l) => {
  const f = l.mbarrier(1);
  return [l.thread(1, l.wait(f, 1)), l.thread(0, l.arrive(f), l.wait(f, 0), l.arrive(f), l.wait(f, 1))];
});

litmus('a wait for the current phase by the parity of the other', 'rule', (l) => {
  const f = l.mbarrier(1);
  return [l.thread(0, l.wait(f, 0, 1)), l.thread(1, l.arrive(f))];
});

litmus('the same by the parity alone', ['race', 'clean'], (l) => {
  const f = l.mbarrier(1);
  return [
    l.thread(0, l.set(l.constant(1), l.n(0)), l.arrive(f), l.wait(f, 0), l.arrive(f), l.wait(f, 1)),
    l.thread(1, l.waitParity(f, 1), l.r.set(load(l.s, l.n(0)))),
  ];
});

litmus('an mbarrier invalidated while a copy to it is under way', 'rule', (l) => {
  const f = l.mbarrier(2);
  return [l.thread(0, l.bulk(f, 0, threads), l.arriveExpecting(f, bytes), l.invalidate(f))];
});

litmus('an mbarrier made anew while a copy to the old one is under way', 'rule', (l) => {
  const f = l.mbarrier(1);
  return [
    l.thread(
      0,
      l.bulk(f, 0, threads),
      l.invalidate(f),
      l.init(f, 1),
      l.arriveExpecting(f, bytes),
      l.wait(f, 0),
    ),
  ];
});

litmus('an mbarrier made anew, and the old one not given up', 'rule', (l) => {
  const f = l.mbarrier(1);
  return [l.thread(0, l.arrive(f), l.wait(f, 0), l.init(f, 1))];
});

litmus('the same with the old one given up', 'clean', (l) => {
  const f = l.mbarrier(1);
  return [l.thread(0, l.arrive(f), l.wait(f, 0), l.invalidate(f), l.init(f, 1), l.arrive(f), l.wait(f, 0))];
});

litmus('an mbarrier invalidated while others may still look at it', ['race', 'rule'], (l) => {
  const f = l.mbarrier(1);
  return [l.thread(0, l.arrive(f), l.wait(f, 0), l.invalidate(f)), l.thread(1, l.wait(f, 0))];
});

litmus('bytes that are expected after the last arrival may have come', ['race', 'rule', 'clean'], (l) => {
  const f = l.mbarrier(2);
  return [
    l.thread(0, l.bulk(f, 0, threads), l.arrive(f)),
    l.thread(1, l.arrive(f)),
    l.thread(2, core({ kind: 'mbarrierExpect', mbarrier: f, index: l.n(0), bytes: l.n(bytes) })),
    l.wait(f, 0),
    l.readOwn(),
  ];
});

litmus('every thread copies, and the bytes of one copy are expected', ['race', 'rule', 'deadlock'], (l) => {
  const f = l.mbarrier(1);
  const mine = core({
    kind: 'bulkCopy',
    mbarrier: f,
    index: l.n(0),
    destination: { array: l.s, offset: multiplyBy(l, 4) },
    source: { array: l.x, offset: multiplyBy(l, 4) },
    count: l.n(4),
    promised: 16,
  });
  return [l.thread(0, l.arriveExpecting(f, 16)), mine, l.wait(f, 0), l.r.set(load(l.s, multiplyBy(l, 4)))];
});

litmus('every thread copies, and the bytes of all are expected', 'clean', (l) => {
  const f = l.mbarrier(1);
  const mine = core({
    kind: 'bulkCopy',
    mbarrier: f,
    index: l.n(0),
    destination: { array: l.s, offset: multiplyBy(l, 4) },
    source: { array: l.x, offset: multiplyBy(l, 4) },
    count: l.n(4),
    promised: 16,
  });
  return [
    l.thread(0, l.arriveExpecting(f, 16 * threads)),
    mine,
    l.wait(f, 0),
    l.r.set(load(l.s, multiplyBy(l, 4))),
  ];
});

function multiplyBy(l: Litmus, factor: number) {
  let sum = l.t;
  for (let i = 1; i < factor; i += 1) sum = add(sum, l.t);
  return sum;
}
