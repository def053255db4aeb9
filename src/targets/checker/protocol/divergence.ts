// Advice about threads that meet from different places, and about exchanges of lanes from which
// others that they name have returned.
//
// Here they meet from wherever they are, and the lowering makes that so on a GPU. CUDA asks more of its
// own functions: a `__syncthreads()` stands where the whole block comes, and every lane that a mask
// names executes the same call. A place is a call of the program with its functions inlined: two calls
// of one function are two places.

import type { Group } from '../../../compiler/ir.ts';
import type { WarpOperator } from '../../../compiler/ir-warps.ts';
import type { Range } from '../../../diagnostics/source.ts';
import type { PartialObserver } from '../../interpreter/observers.ts';
import type { Thread } from '../../interpreter/thread.ts';
import type { Gathering } from '../../interpreter/warp.ts';
import { laneList, warpSize } from '../../lanes.ts';
import { threadsInWords } from '../../rank-words.ts';
import type { Finding, Findings } from '../finding.ts';

/** One time that the threads of a block or a grid sync: where each came, by rank. */
type Sync = Map<number, Range>;

/** A place, and the ranks that came there. */
interface Arrivals {
  readonly range: Range;
  readonly ranks: number[];
}

type FindingText = Pick<Finding, 'code' | 'message' | 'mend'>;

export class Divergence implements PartialObserver {
  readonly #findings: Findings;
  /** Syncs that are not over, of the block and of the grid. */
  readonly #open = new Map<Group['kind'], Sync>();
  /** The sync that each thread came to last. */
  readonly #own = new Map<Thread, Sync>();
  /** Exchanges that are over, and were looked at. */
  readonly #seen = new WeakSet<Gathering>();

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  syncBegan(thread: Thread, { kind }: Group, range: Range): void {
    if (kind !== 'block' && kind !== 'grid') return;
    const sync = this.#open.get(kind) ?? new Map();
    this.#open.set(kind, sync.set(thread.rank, range));
    this.#own.set(thread, sync);
  }

  /** The first that goes on finds all there; those that follow may find some at the next sync. */
  syncEnded(thread: Thread, { kind }: Group): void {
    const sync = this.#open.get(kind);
    if (sync === undefined || sync !== this.#own.get(thread)) return;
    this.#open.delete(kind);
    this.#compare(thread, arrivalsOf(sync), 'synchronise here', (one, other) => ({
      code: 'WS7105',
      message: `of the threads of a block ${one.length} come to one sync of the ${kind}, and ${other.length} to another`,
      mend: `End the branch before the sync, and let all threads come to one behind it: \`${kind === 'grid' ? 'cuda.thisGrid().sync()' : 'cuda.syncthreads()'}\`.`,
    }));
  }

  lanesMet(thread: Thread, operator: WarpOperator, gathering: Gathering): void {
    if (this.#seen.has(gathering)) return;
    this.#seen.add(gathering);
    const { first, named, brought, places } = gathering;
    const warp = first / warpSize;
    const lanesOf = (ranks: readonly number[]) =>
      laneList(ranks.reduce((bits, rank) => bits | (1 << (rank - first)), 0));
    const arrivals = arrivalsOf([...places].map(([lane, range]) => [first + lane, range]));
    this.#compare(thread, arrivals, 'come here', (one, other) => ({
      code: 'WS7106',
      message: `${lanesOf(one)} of warp ${warp} come to one ${operator}, and ${lanesOf(other)} to another`,
      mend: 'Call it once behind the branches, with the value of each in a variable; or let each branch name its own lanes by a mask that cuda.ballotSync makes before them.',
    }));
    const gone = lanesIn(named).filter((lane) => !brought.has(lane));
    if (gone.length === 0) return;
    const [{ range, ranks }] = arrivals as [Arrivals];
    this.#findings.report({
      code: 'WS7106',
      severity: 'advice',
      message: `${operator} of warp ${warp} names ${lanesOf(gone.map((lane) => first + lane))}, which returned and took no part`,
      place: { range, threads: ranks, block: thread.block.index },
      related: [],
      mend: 'Let all lanes come, with a neutral value where they have none; or name those that take part by a mask that cuda.ballotSync makes before the others return.',
    });
  }

  /** Tells of each place beside the first of the text. */
  #compare(
    thread: Thread,
    [first, ...others]: readonly Arrivals[],
    doing: string,
    tell: (one: readonly number[], other: readonly number[]) => FindingText,
  ): void {
    const block = thread.block.index;
    for (const { range, ranks } of others) {
      this.#findings.report({
        ...tell(first!.ranks, ranks),
        severity: 'advice',
        place: { range: first!.range, threads: first!.ranks, block },
        related: [{ label: `${threadsInWords(ranks)} ${doing}`, range, threads: ranks, block }],
      });
    }
  }
}

/** Arrivals by place, in the order of the text. */
function arrivalsOf(came: Iterable<readonly [number, Range]>): Arrivals[] {
  const places = new Map<Range, Arrivals>();
  for (const [rank, range] of came) {
    const at = places.get(range) ?? { range, ranks: [] };
    at.ranks.push(rank);
    places.set(range, at);
  }
  for (const { ranks } of places.values()) ranks.sort((a, b) => a - b);
  return [...places.values()].sort(
    (a, b) => a.range.source - b.range.source || a.range.start - b.range.start || a.ranks[0]! - b.ranks[0]!,
  );
}

/** The lanes of a mask. */
function lanesIn(mask: number): number[] {
  return Array.from({ length: warpSize }, (_, lane) => lane).filter((lane) => ((mask >>> lane) & 1) === 1);
}
