// The worker pool between its lead and a helper, in every order of their steps.

import { MessageChannel } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { type HelperWorkshop, runHelper } from '#warpstage/runtime/cpu/helper-loop.js';
import { createWorkerPoolMemory, type PoolLaunch, WorkerPool } from '#warpstage/runtime/cpu/worker-pool.js';
import { inEveryOrder } from '../support/interleavings.ts';

const launch: PoolLaunch = {
  ticket: 1,
  executable: 3,
  recordAddress: 64,
  arena: 1024,
  arenaStride: 256,
  blocks: 9,
  together: false,
  inTurn: false,
  stages: null,
};

function pool(members = 2) {
  const memory = createWorkerPoolMemory(members);
  const words = new Int32Array(memory.words);
  return {
    memory,
    lead: new WorkerPool(memory),
    helper: new WorkerPool(memory),
    /** Whether a launch is open and no helper is in it: the first word counts them. */
    isEmpty: () => words[0] === 0,
  };
}

/** The blocks that a member takes until there are none. */
function takeAll(member: WorkerPool): number[] {
  const taken: number[] = [];
  for (let range = member.take(); range !== null; range = member.take())
    for (let block = range.first; block < range.end; ++block) taken.push(block);
  return taken;
}

describe('a launch', () => {
  test('gives each block to one thread, in every order of takes', () => {
    inEveryOrder(() => {
      const { lead, helper } = pool();
      lead.open(launch);
      let [mine, theirs]: number[][] = [[], []];
      return {
        one: () => {
          mine = takeAll(lead);
        },
        other: () => {
          const range = helper.take();
          if (range !== null) for (let at = range.first; at < range.end; ++at) theirs!.push(at);
        },
        check: () =>
          expect([...mine!, ...theirs!].sort((one, two) => one - two)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]),
      };
    });
  });

  test('gives each block to one thread, where the lead begins alone and calls others later', () => {
    inEveryOrder(() => {
      const { lead, helper } = pool();
      lead.open(launch, false);
      const [mine, theirs]: number[][] = [[], []];
      const put = (to: number[], range: ReturnType<WorkerPool['take']>) => {
        if (range !== null) for (let at = range.first; at < range.end; ++at) to.push(at);
      };
      return {
        one: () => {
          for (const alone of [1, 2, null, null, null, null, null]) put(mine!, lead.take(alone));
        },
        other: () => put(theirs!, helper.take()),
        check: () =>
          expect([...mine!, ...theirs!].sort((one, two) => one - two)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]),
      };
    });
  });

  test('that somebody has to wait for calls others, in every order, and as long as it is so', () => {
    inEveryOrder(() => {
      const { lead, helper } = pool();
      const before = helper.calls;
      return {
        one: () => lead.open(launch, false),
        other: () => {
          helper.isAwaited = true;
        },
        check: () => expect(helper.calls).toBeGreaterThan(before),
      };
    });
    const { lead, helper } = pool();
    helper.isAwaited = true;
    lead.open(launch, false);
    expect(helper.calls).toBe(1);
    lead.close();
    helper.isAwaited = false;
    lead.open(launch, false);
    expect(helper.calls).toBe(1);
  });

  test('that the lead begins alone wakes nobody until others are called', () => {
    const { lead, helper } = pool();
    const before = helper.calls;
    lead.open(launch, false);
    expect(helper.calls).toBe(before);
    expect(lead.take(1)).toEqual({ first: 0, end: 1 });
    lead.call();
    expect(helper.calls).toBe(before + 1);
    expect(helper.enter()).toBe(true);
    expect(helper.take()).toEqual({ first: 1, end: 3 });
  });

  test('is closed when whoever entered has left', () => {
    inEveryOrder(() => {
      const { lead, helper } = pool();
      lead.open(launch);
      expect(helper.enter()).toBe(true);
      let isInside = true;
      let wasInside = false;
      return {
        one: () => {
          lead.close();
          wasInside = isInside;
        },
        other: () => {
          isInside = false;
          helper.leave();
        },
        check: () => expect(wasInside).toBe(false),
      };
    });
  });

  test('lets a helper in until it is closed, and not later', () => {
    inEveryOrder(() => {
      const { lead, helper, isEmpty } = pool();
      lead.open(launch);
      let [isClosed, isLate] = [false, false];
      return {
        one: () => {
          if (!helper.enter()) return;
          isLate = isClosed;
          helper.leave();
        },
        other: () => {
          // Where the helper is inside, closing would wait for it.
          isClosed = isEmpty();
          if (isClosed) lead.close();
        },
        check: () => expect(isLate).toBe(false),
      };
    });
  });

  test('calls its helpers, wherever they are about to sleep', () => {
    inEveryOrder(() => {
      const { lead, helper } = pool();
      let entered = false;
      return {
        one: () => {
          const seen = helper.calls;
          entered = helper.enter();
          if (!entered) {
            helper.awaitCall(seen);
            entered = helper.enter();
          }
        },
        other: () => lead.open(launch),
        check: () => expect(entered).toBe(true),
      };
    });
  });

  test('that was halted gives no more blocks and has not run to its end; the next one has', () => {
    const { lead, helper } = pool();
    lead.open(launch);
    helper.halt();
    expect(lead.take()).toBe(null);
    expect(lead.close()).toBe(false);
    lead.open(launch);
    expect(takeAll(lead)).toHaveLength(9);
    expect(lead.close()).toBe(true);
  });

  test('whose blocks take turns is taken in longer ranges, each block once', () => {
    const lengths = (inTurn: boolean) => {
      const { lead } = pool(2);
      lead.open({ ...launch, blocks: 90, inTurn });
      const taken: number[] = [];
      for (let range = lead.take(); range !== null; range = lead.take()) taken.push(range.end - range.first);
      return taken;
    };
    expect(lengths(false)).toEqual([23, 17, 13, 10, 7, 5, 4, 3, 2, 2, 1, 1, 1, 1]);
    expect(lengths(true)).toEqual([23, 23, 23, 21]);
  });

  test('whose blocks wait for each other is taken as a whole', () => {
    const { lead } = pool(4);
    lead.open({ ...launch, together: true });
    expect(lead.take()).toEqual({ first: 0, end: 9 });
    expect([0, 1, 3].map((member) => lead.arenaOf(member))).toEqual([1024, 1024, 1024]);
  });

  test('has an arena for each member', () => {
    const { lead } = pool(4);
    lead.open(launch);
    expect([0, 1, 3].map((member) => lead.arenaOf(member))).toEqual([1024, 1280, 1792]);
  });
});

describe('a helper', () => {
  /** Runs until it would sleep. */
  class Ending extends WorkerPool {
    override awaitCall(): void {
      throw new Error('asleep');
    }
  }

  test('runs the blocks of a launch by its own executable, though another launch took its place', () => {
    const used = new Set<number>();
    inEveryOrder(() => {
      const { memory, lead, isEmpty } = pool();
      const { port1, port2 } = new MessageChannel();
      for (const id of [1, 2]) port1.postMessage({ kind: 'executable', id, executable: { id } });
      const ran: { readonly by: number; readonly of: number }[] = [];
      const workshop: HelperWorkshop = {
        memory: new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }),
        port: port2,
        now: () => 0,
        create: (executable) => () => {
          ran.push({ by: (executable as unknown as { id: number }).id, of: lead.executable });
          return null;
        },
      };
      lead.open({ ...launch, executable: 1 });
      return {
        one: () => {
          try {
            expect(() => runHelper(1, new Ending(memory), workshop)).toThrow('asleep');
          } finally {
            port1.close();
          }
        },
        other: () => {
          if (!isEmpty()) return;
          lead.close();
          lead.open({ ...launch, executable: 2 });
        },
        check: () => {
          for (const { by, of } of ran) expect(by).toBe(of);
          for (const { of } of ran) used.add(of);
        },
      };
    });
    // Both happened: it was in time for the first launch, and it worked on neither with the other's executable.
    expect(used.has(1)).toBe(true);
  });
});
