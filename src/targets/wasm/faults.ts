// What a kernel tells the host when it stops: numbers, which become a Fault here.

import type { ArrayReference, Program } from '../../compiler/ir.ts';
import { bytesOf } from '../../kernel/layout.ts';
import type { Element, Extent3 } from '../../kernel/types.ts';
import { lengthAs } from '../analysis/elements.ts';
import { assertionFault } from '../assertions.ts';
import { barrierMisuseOf, barrierName } from '../barrier-misuse.ts';
import { type CopyOperand, copyFault } from '../copy-operands.ts';
import type { Executable, Fault, FaultSite } from '../executable.ts';
import { lanesOfTile, ownLaneUnnamed, readsAbsentLane, waitsForLanes, warpSize } from '../lanes.ts';
import { absentLane } from '../legalise/cpu/warps.ts';
import { differentCounts, misuseOf, oneSided } from '../pipeline-misuse.ts';
import { placeIn } from '../place-in.ts';
import {
  deadlockAtStage,
  deadlockOf,
  deadlockOfAll,
  type Progress,
  sleepsInVain,
  type WaitingThread,
  waitsAtBarrier,
  waitsForCount,
  waitsForGrid,
} from '../waiting.ts';
import type { HostFunctions } from './host-functions.ts';

/** A thread that waits: for which group, stage or barrier, and how far that has come. */
interface Waiting {
  readonly rank: number;
  readonly site: FaultSite;
  readonly place: number;
  readonly progress: Progress;
  /** Of a barrier. */
  readonly phase?: number;
}

export class FaultReader {
  readonly #program: Program;
  readonly #sites: readonly FaultSite[];
  readonly #memory: WebAssembly.Memory;
  #view: DataView;
  #record = 0;
  #arena = 0;
  #fault: Fault | null = null;
  /** Of a pipeline's producers, and of threads that wait, before the fault that they are counted for. */
  readonly #counts: number[] = [];
  readonly #waiting: Waiting[] = [];
  #awaitsGrid = false;
  /** What a module calls. */
  readonly functions: HostFunctions['fault'];

  constructor({ program, sites }: Extract<Executable, { target: 'wasm' }>, memory: WebAssembly.Memory) {
    this.#program = program;
    this.#sites = sites;
    this.#memory = memory;
    this.#view = new DataView(memory.buffer);
    this.functions = {
      outOfRange: (site, rank, block, index, count, length) => {
        const { range, array, access, exchanges, dimension } = this.#sites[site]!;
        if (exchanges) {
          this.#fault = this.#laneMisuse(site, rank, block, Number(index));
          return;
        }
        this.#fault = {
          kind: 'out-of-range',
          range,
          array: array!,
          access: access!,
          index: Number(index),
          count: Number(count),
          length: Number(length),
          ...(dimension === undefined ? {} : { dimension }),
          ...this.#place(site, rank, block),
        };
      },
      divisionByZero: (site, rank, block) => {
        const { range } = this.#sites[site]!;
        this.#fault = { kind: 'division-by-zero', range, ...this.#place(site, rank, block) };
      },
      copy: (site, rank, block, to, from, count, zeroFill) => {
        const { range, copy } = this.#sites[site]!;
        const { destination, source, alignment } = copy!;
        this.#fault = copyFault(
          {
            destination: this.#operand(destination, to),
            source: this.#operand(source, from),
            count: Number(count),
            zeroFill: Number(zeroFill),
            elementBytes: bytesOf(this.#arrayOf(destination).element),
            alignment,
          },
          { range, ...this.#place(site, rank, block) },
        );
      },
      deadlock: (site, block, stage) => {
        this.#fault = this.#deadlock(this.#sites[site]!, block, stage);
      },
      pipeline: (site, rank, block, state) => {
        const { pipeline, verb } = this.#sites[site]!;
        const { name } = this.#program.pipelines[pipeline!]!;
        this.#fault = { ...misuseOf(state, verb!, name), ...this.#pipelineMisuse(site, rank, block) };
      },
      producers: (site, rank, block, producers, threads) => {
        const { pipeline } = this.#sites[site]!;
        const { name } = this.#program.pipelines[pipeline!]!;
        const misuse = oneSided(name, Number(producers), threads);
        this.#fault = { ...misuse, ...this.#pipelineMisuse(site, rank, block) };
      },
      count: (count) => {
        this.#counts.push(Number(count));
      },
      counts: (site, rank, block) => {
        const { pipeline } = this.#sites[site]!;
        const { name } = this.#program.pipelines[pipeline!]!;
        const misuse = differentCounts(name, this.#counts.splice(0));
        this.#fault = { ...misuse, ...this.#pipelineMisuse(site, rank, block) };
      },
      waits: (site, rank, place, arrived, expected, left) => {
        const progress = { arrived, expected, left };
        this.#waiting.push({ rank: this.#rankAt(site, rank), site: this.#sites[site]!, place, progress });
      },
      sleeps: (site, rank) => {
        const progress = { arrived: 0, expected: 0, left: 0 };
        this.#waiting.push({ rank: this.#rankAt(site, rank), site: this.#sites[site]!, place: 0, progress });
      },
      waitsAtBarrier: (site, rank, index, phase, arrived, expected, left) => {
        const progress = { arrived, expected, left };
        const at = { rank: this.#rankAt(site, rank), site: this.#sites[site]!, place: index };
        this.#waiting.push({ ...at, progress, phase });
      },
      deadlockAtBarrier: (site, block, index, phase) => {
        const { range, barrier } = this.#sites[site]!;
        const declaration = this.#program.barriers[barrier!]!;
        const name = barrierName(declaration, index);
        const all = { group: declaration.group, range };
        this.#fault = deadlockOfAll(this.blockAt(block), this.#threads, all, (progress) =>
          waitsAtBarrier(name, phase, progress),
        );
      },
      barrier: (site, rank, block, fault, index, a, b) => {
        const { range, barrier } = this.#sites[site]!;
        const misuse = barrierMisuseOf(this.#program.barriers[barrier!]!, fault, index, Number(a), Number(b));
        this.#fault = { kind: 'misuse', code: 'WS3009', ...misuse, range, ...this.#place(site, rank, block) };
      },
      stuck: (block) => {
        const all = this.#waiting.splice(0).sort((a, b) => a.rank - b.rank);
        const threads = all.map((one): WaitingThread => {
          return { rank: one.rank, range: one.site.range, what: this.#wait(one, all) };
        });
        this.#fault = deadlockOf(this.blockAt(block), threads);
        this.#awaitsGrid = this.#progressAtGrid(all).arrived === this.#threads;
      },
    };
  }

  /** A launch begins. */
  begin(record: number, arena: number): void {
    this.#record = record;
    this.#arena = arena;
    this.#fault = null;
    // A memory that has grown has a new buffer.
    if (this.#view.buffer !== this.#memory.buffer) this.#view = new DataView(this.#memory.buffer);
  }

  /** An assertion does not hold. */
  assertion(site: number, rank: number, block: number, message: string): void {
    const { range } = this.#sites[site]!;
    this.#fault = { ...assertionFault(message), range, ...this.#place(site, rank, block) };
  }

  /** The fault that was noted. */
  take(): Fault {
    if (this.#fault === null) throw new Error('a kernel stopped without a fault');
    return this.#fault;
  }

  get #threads(): number {
    const [x, y, z] = this.#program.block;
    return x * y * z;
  }

  /** The thread that a site's code knows by this rank. */
  threadAt(site: number, rank: number): Extent3 {
    const [x, y] = this.#program.block;
    return placeIn([x, y], this.#rankAt(site, rank));
  }

  blockAt(linear: number): Extent3 {
    return placeIn([this.#word(this.#record), this.#word(this.#record + 4)], linear >>> 0);
  }

  #rankAt(site: number, rank: number): number {
    const { rankGroup } = this.#sites[site]!;
    return rankGroup === undefined ? rank : rankGroup.first + rankGroup.stride * rank;
  }

  #place(site: number, rank: number, block: number): { thread: Extent3; block: Extent3 } {
    return { thread: this.threadAt(site, rank), block: this.blockAt(block) };
  }

  #pipelineMisuse(site: number, rank: number, block: number) {
    const { range } = this.#sites[site]!;
    return { kind: 'misuse', code: 'WS3006', range, ...this.#place(site, rank, block) } as const;
  }

  /** A lane of an exchange gives no value, or does not name itself: the index says so. */
  #laneMisuse(site: number, rank: number, block: number, index: number): Fault {
    const { range, array, access } = this.#sites[site]!;
    const warp = Math.floor(this.#rankAt(site, rank) / warpSize);
    const { lane, absence } = absentLane(index);
    const words =
      access === 'write' ? ownLaneUnnamed(array!, warp, lane) : readsAbsentLane(array!, warp, lane, absence);
    return { kind: 'misuse', code: 'WS3010', ...words, range, ...this.#place(site, rank, block) };
  }

  /** Whether all threads of the block that could not go on wait for the grid. */
  get awaitsGrid(): boolean {
    return this.#awaitsGrid;
  }

  #progressAtGrid(all: readonly Waiting[]): Progress {
    const arrived = all.filter(({ site }) => site.group?.kind === 'grid').length;
    return { arrived, expected: this.#threads, left: this.#threads - all.length };
  }

  /** What a thread waits for, in words; `all` are the block's threads that have not returned. */
  #wait({ site, place, progress, rank, phase }: Waiting, all: readonly Waiting[]): string {
    const { group, meeting, byMask, sleeps } = site;
    if (sleeps) return sleepsInVain;
    if (meeting !== undefined && group?.kind === 'tile') {
      const named = byMask ? progress.expected : lanesOfTile(group.size, rank, this.#threads);
      const warp = Math.floor(rank / warpSize);
      const lanes = (ranks: readonly Waiting[]) =>
        componentCount(
          ranks.filter((one) => Math.floor(one.rank / warpSize) === warp).map((one) => one.rank),
        );
      const isHere = ({ site: other, progress: { expected } }: Waiting) =>
        other.meeting === meeting &&
        (byMask
          ? other.byMask === true && expected === named
          : other.group?.kind === 'tile' && other.group.size === group.size);
      return waitsForLanes(meeting, warp, {
        named,
        arrived: lanes(all.filter(isHere)) & named,
        returned: ~lanes(all),
      });
    }
    if (group?.kind === 'grid') return waitsForGrid(this.#progressAtGrid(all));
    return waitsForCount(this.#program, site, { place, phase }, progress);
  }

  #word(address: number): number {
    return this.#view.getUint32(address, true);
  }

  #long(address: number): number {
    return Number(this.#view.getBigUint64(address, true));
  }

  #arrayOf({ space, id, as }: ArrayReference): { readonly name: string; readonly element: Element } {
    const array = this.#declared({ space, id });
    return as === undefined ? array : { name: array.name, element: as };
  }

  #declared({ space, id }: ArrayReference) {
    const { parameters, sharedArrays, localArrays } = this.#program;
    if (space === 'shared') return sharedArrays[id]!;
    if (space === 'local') return localArrays[id]!;
    const parameter = parameters[id]!;
    if (parameter.kind !== 'array') throw new Error(`${parameter.name} is not an array`);
    return parameter;
  }

  #operand(reference: ArrayReference, offset: bigint): CopyOperand {
    const array = this.#arrayOf(reference);
    const { space, id } = reference;
    const operand = { array: array.name, offset: Number(offset) };
    if (space === 'local') {
      const { count } = this.#program.localArrays[id]!;
      return { ...operand, length: count, memory: `local ${id}`, address: 0 };
    }
    const slot = this.#record + 16 * (1 + id + (space === 'shared' ? this.#program.parameters.length : 0));
    const address = this.#long(slot) + (space === 'shared' ? this.#arena : 0);
    return {
      ...operand,
      length: lengthAs(this.#program, reference, this.#long(slot + 8)),
      memory: this.#memory,
      address,
    };
  }

  /** All threads wait at one place for one stage; nobody is left who could help. */
  #deadlock({ range, pipeline: id, verb }: FaultSite, block: number, stage: number): Fault {
    const what = { pipeline: this.#program.pipelines[id!]!, verb: verb!, range };
    return deadlockAtStage(this.blockAt(block), this.#threads, what, stage);
  }
}

/** The lanes of ranks of one warp, as bits. */
function componentCount(ranks: readonly number[]): number {
  return ranks.reduce((bits, rank) => bits | (1 << (rank % warpSize)), 0);
}
