// Where tiles of several warps meet.
//
// The hardware has sixteen barriers a block, of which __syncthreads takes the first. Each size of
// tile gets numbers of its own, as tiles of two sizes may wait at the same time; sizes that are
// left over meet in shared memory.

import type { Program, SharingGroup } from '../../compiler/ir.ts';
import { forEachCall } from '../legalise/calls.ts';
import type { StatementWriter } from './statements.ts';

const hardwareBarriers = 15;

/** A barrier in shared memory: how many have arrived, how often all have, and how many said yes. */
export const meetingPrelude = `struct ws_meeting { unsigned arrived; volatile unsigned phase; volatile unsigned votes; };
WS_DEVICE void ws_meet(ws_meeting* m, unsigned size WS_WAITS) {
  const unsigned phase = m->phase;
  __threadfence_block();
  if (atomicAdd(&m->arrived, 1u) == size - 1u) {
    m->arrived = 0;
    __threadfence_block();
    m->phase = phase + 1u;
  } else WS_SPIN_WHILE(m->phase == phase);
  __threadfence_block();
}
WS_DEVICE unsigned ws_meet_count(ws_meeting* m, unsigned size, bool value WS_WAITS) {
  if (value) atomicAdd((unsigned*)&m->votes, 1u);
  ws_meet(m, size WS_PLACE);
  const unsigned count = m->votes;
  ws_meet(m, size WS_PLACE);
  m->votes = 0;
  ws_meet(m, size WS_PLACE);
  return count;
}
`;

export class TileBarriers {
  /** The number of the first barrier of each size; null for one that meets in shared memory. */
  readonly #first = new Map<number, number | null>();
  readonly #blockSize: number;

  /** Those of the hardware wait for threads that have ended; `inMemory` takes none of them. */
  constructor(program: Program, blockSize: number, inMemory: boolean) {
    this.#blockSize = blockSize;
    let next = inMemory ? hardwareBarriers + 1 : 1;
    for (const size of sizesOf(program)) {
      const tiles = Math.ceil(blockSize / size);
      const fits = next + tiles <= hardwareBarriers + 1;
      this.#first.set(size, fits ? next : null);
      if (fits) next += tiles;
    }
  }

  /** Whether any of the tiles need the prelude. */
  get meetInMemory(): boolean {
    return [...this.#first.values()].includes(null);
  }

  declarations(out: StatementWriter): void {
    if (!this.meetInMemory) return;
    for (const [size, first] of this.#first) {
      if (first !== null) continue;
      const tiles = Math.ceil(this.#blockSize / size);
      out.line(`__shared__ ws_meeting ws_meetings_${size}[${tiles}];`);
      out.nested(`if (ws_thread_rank < ${tiles})`, () => {
        for (const field of ['arrived', 'phase', 'votes']) {
          out.line(`ws_meetings_${size}[ws_thread_rank].${field} = 0;`);
        }
      });
    }
    out.line('__syncthreads();');
  }

  /** A statement at which the threads of a tile wait for each other; `place` is what a wait takes besides. */
  sync(size: number, place: string): string {
    const first = this.#first.get(size) ?? null;
    if (first === null) return `ws_meet(${this.#meeting(size)}, ${size}u${place});`;
    return `asm volatile("barrier.sync %0, ${size};" ::"r"(${first} + ws_thread_rank / ${size}) : "memory");`;
  }

  /** An expression: how many threads of a tile have a true value. */
  count(size: number, value: string, place: string): string {
    const first = this.#first.get(size) ?? null;
    if (first === null) return `ws_meet_count(${this.#meeting(size)}, ${size}u, ${value}${place})`;
    return `ws_tile_count<${size}>(${first} + ws_thread_rank / ${size}, ${value})`;
  }

  #meeting(size: number): string {
    return `&ws_meetings_${size}[ws_thread_rank / ${size}]`;
  }
}

/** The sizes of tiles of several warps that a program has meet, largest first. */
function sizesOf({ body, pipelines, barriers }: Program): number[] {
  const sizes = new Set<number>();
  const add = (group: SharingGroup) => {
    if (group.kind === 'tile' && group.size > 32) sizes.add(group.size);
  };
  forEachCall(body, (call) => {
    if (call.intrinsic === 'sync') add(call.group);
  });
  for (const { group } of pipelines) add(group);
  for (const { group } of barriers) add(group);
  return [...sizes].sort((a, b) => b - a);
}
