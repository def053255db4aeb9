// Pipelines and asynchronous copies, written for the lowering that was chosen for each.
//
// A pipeline keeps a few counters in registers: with barriers its head and its tail, with groups how
// many stages are committed and not yet released. A light kernel
// has some fifty instructions a batch before it falls behind the memory, so every one counts: what
// only the copying thread needs stands in its own branch, and nothing checks for misuse here.

import type { Call, Group, Program, Statement } from '../../compiler/ir.ts';
import type { Range } from '../../diagnostics/source.ts';
import { BarrierWriter, type GroupCode } from './barriers.ts';
import { type Calm, calmOf } from './calm.ts';
import { CopyWriter } from './copies.ts';
import { Cursor, type Position } from './cursors.ts';
import {
  type Copy,
  forEachCall,
  type Lowering,
  type LoweringOptions,
  madeInLoops,
  returnsAmongCopies,
  storesToShared,
} from './lowering.ts';
import type { CallLowering, OwnCall, StatementWriter } from './statements.ts';
import type { SteadyState } from './steady.ts';
import { syncsApart } from './synchronisation.ts';
import { TileBarriers } from './tile-barriers.ts';
import { identifier } from './types.ts';

type PipelineCopy = Extract<Copy, { pipeline: number }>;
type PipelineCall = Exclude<Extract<Call, { pipeline: number }>, { intrinsic: 'memcpyAsync' }>;

export class PipelineWriter implements CallLowering, GroupCode {
  private readonly program: Program;
  private readonly lowerings: readonly Lowering[];
  private readonly copies: CopyWriter;
  private readonly blockSize: number;
  readonly tileBarriers: TileBarriers;
  /** Pipelines whose `quit` is asked for its result: they count their members. */
  private readonly quits: ReadonlySet<number>;
  /** Pipelines that are made more than once. */
  private readonly remade: ReadonlySet<number>;
  /** Whether the kernel's own stores reach shared memory, beside the copies. */
  private readonly writesShared: boolean;
  /** Whether threads fence before they meet what they wrote to shared memory, for the copy engine. */
  private readonly fencesWrites: boolean;
  /** Whether a thread that returns may have copies under way. */
  private readonly finishesCopies: boolean;
  private readonly steady: SteadyState;
  private readonly onlyCopiesMeet: () => boolean;
  private readonly isApart: (call: Call) => boolean;
  private readonly barriers: BarrierWriter;
  private readonly calm: Calm;
  /** Who arrives at the stages of pipelines with bulk copies. */
  private readonly arrivals: readonly ('one' | 'warps' | 'threads')[];

  constructor(
    program: Program,
    lowerings: readonly Lowering[],
    options: Pick<LoweringOptions, 'architecture' | 'alignments'>,
    steady: SteadyState,
    /** Whether it is proven that copies are all that needs to be ordered (only-copies.ts). */
    onlyCopiesMeet: () => boolean,
    /** Whether threads may end at any place. */
    checked: boolean,
  ) {
    this.program = program;
    this.steady = steady;
    this.onlyCopiesMeet = onlyCopiesMeet;
    this.isApart = syncsApart(program);
    this.barriers = new BarrierWriter(program, options, this);
    this.lowerings = lowerings;
    this.copies = new CopyWriter(
      program,
      options.alignments,
      (group) => `${this.rank(group)}, ${this.groupSize(group)}u`,
    );
    this.blockSize = program.block[0] * program.block[1] * program.block[2];
    this.tileBarriers = new TileBarriers(program, this.blockSize, checked);
    const quits = new Set<number>();
    forEachCall(program.body, (call) => {
      if (call.intrinsic === 'quit' && call.result !== null) quits.add(call.pipeline);
    });
    this.quits = quits;
    this.remade = madeInLoops(program.body, 'pipeline');
    this.writesShared = storesToShared(program.body);
    this.fencesWrites = this.hasBulkCopies() && (this.writesShared || this.threadsCopyToShared());
    this.finishesCopies = returnsAmongCopies(program.body);
    this.calm = this.calmAround();
    this.arrivals = this.arrivalsOf();
  }

  private isBulk(call: Call): boolean {
    if (call.intrinsic !== 'memcpyAsync') return false;
    return 'barrier' in call ? this.barriers.isBulk(call) : this.lowerings[call.pipeline] === 'bulk';
  }

  private hasBulkCopies(): boolean {
    let has = false;
    forEachCall(this.program.body, (call) => {
      has ||= this.isBulk(call);
    });
    return has;
  }

  private threadsCopyToShared(): boolean {
    let copies = false;
    forEachCall(this.program.body, (call) => {
      if (call.intrinsic !== 'memcpyAsync' || this.isBulk(call)) return;
      copies ||= call.destination.array.space === 'shared';
    });
    return copies;
  }

  /** What lies between barriers of the block and the calls that one thread makes for all. */
  private calmAround(): Calm {
    if (!this.hasBulkCopies()) return { afterBarrier: new Set(), fenced: new Set() };
    const lowering = (call: Call & { pipeline: number }) => this.lowerings[call.pipeline]!;
    const meets = (call: Call): boolean => {
      switch (call.intrinsic) {
        case 'sync':
          return call.group.kind === 'block' && !this.isApart(call);
        case 'makeBarrier':
          return this.program.barriers[call.barrier]!.group.kind === 'block';
        case 'makePipeline':
          return lowering(call) !== 'thread' && this.program.pipelines[call.pipeline]!.group.kind === 'block';
        case 'producerAcquire':
          return lowering(call) === 'bulk' || lowering(call) === 'groups';
        case 'consumerWait':
          return lowering(call) === 'groups';
        default:
          return false;
      }
    };
    const idle = (call: Call): boolean => {
      switch (call.intrinsic) {
        case 'producerCommit':
        case 'consumerRelease':
          return lowering(call) !== 'barriers';
        case 'quit':
          return call.result === null;
        case 'producerAcquire':
          return lowering(call) === 'thread';
        case 'nanosleep':
        case 'clock64':
        case 'globaltimer':
          return true;
        default:
          return false;
      }
    };
    const copies = (call: Call) => this.isBulk(call);
    return calmOf(this.program, { meets, idle, copies, released: this.steady.released });
  }

  /**
   * One thread arrives for all where nothing that others did since the last barrier of the block has to be
   * ordered; else each warp does, behind what its lanes did.
   */
  private arrivalsOf(): readonly ('one' | 'warps' | 'threads')[] {
    const stirred = new Set<number>();
    forEachCall(this.program.body, (call) => {
      if (call.intrinsic !== 'producerCommit' || this.lowerings[call.pipeline] !== 'bulk') return;
      if (!this.calm.afterBarrier.has(call)) stirred.add(call.pipeline);
    });
    const all = this.wholeWarps ? 'warps' : 'threads';
    return this.lowerings.map((_, pipeline) =>
      stirred.has(pipeline) && !this.onlyCopiesMeet() ? all : 'one',
    );
  }

  private name(pipeline: number): string {
    return `p_${identifier(this.program.pipelines[pipeline]!.name, pipeline)}`;
  }

  /** Whether every warp has all its threads, so that they can be asked to act together. */
  private get wholeWarps(): boolean {
    return this.blockSize % 32 === 0;
  }

  /** Begins a statement that the one thread executes that gives work to the copy engine. */
  private get inCopier(): string {
    // A branch that whole warps take costs the others one instruction; a thread elected in it, none.
    return this.wholeWarps ? 'if (ws_copying_warp) if (ws_elect())' : 'if (ws_thread_rank == 0)';
  }

  private head(pipeline: number): Cursor {
    return new Cursor(`${this.name(pipeline)}_head`, this.program.pipelines[pipeline]!.stages);
  }

  private tail(pipeline: number): Cursor {
    return new Cursor(`${this.name(pipeline)}_tail`, this.program.pipelines[pipeline]!.stages);
  }

  /** Where the head is at a call: at a known distance from the tail, or where its cursor says. */
  private headAt(call: Call & { pipeline: number }): Position {
    const distance = this.steady.distance.get(call);
    return distance === undefined
      ? this.head(call.pipeline).position()
      : this.tail(call.pipeline).position(distance);
  }

  groupSize(group: Group): number {
    if (group.kind === 'tile') return group.size;
    return group.kind === 'block' ? this.blockSize : 1;
  }

  /** The barriers of the kernel and of all pipelines, in shared memory, and the pipelines' counters. */
  declarations(out: StatementWriter): void {
    if (this.lowerings.includes('bulk') && this.wholeWarps)
      out.line('const bool ws_copying_warp = __shfl_sync(0xffffffffu, ws_thread_rank, 0) == 0;');
    this.tileBarriers.declarations(out);
    this.barriers.declarations(out);
    for (const [id, pipeline] of this.program.pipelines.entries()) {
      const name = this.name(id);
      const lowering = this.lowerings[id]!;
      const instances = pipeline.group.kind === 'tile' ? Math.ceil(this.blockSize / pipeline.group.size) : 1;
      if (lowering === 'thread' || lowering === 'groups') out.line(`unsigned ${name}_filled = 0;`);
      else out.line(`${this.head(id).declaration()} ${this.tail(id).declaration()}`);
      if (lowering === 'bulk') out.line(`unsigned ${name}_bytes = 0;`);
      if (lowering === 'bulk' || lowering === 'barriers') {
        out.line(`__shared__ ws_barrier ${name}_full_all[${instances * pipeline.stages}];`);
        out.line(
          `ws_barrier* const ${name}_full = ${name}_full_all + ${this.instance(pipeline.group)} * ${pipeline.stages};`,
        );
      }
      if (lowering === 'barriers') {
        out.line(`__shared__ ws_barrier ${name}_empty_all[${instances * pipeline.stages}];`);
        out.line(
          `ws_barrier* const ${name}_empty = ${name}_empty_all + ${this.instance(pipeline.group)} * ${pipeline.stages};`,
        );
      }
      if (this.remade.has(id) && (lowering === 'bulk' || lowering === 'barriers')) {
        out.line(`bool ${name}_made = false;`);
      }
      if (this.quits.has(id)) {
        out.line(`__shared__ unsigned ${name}_members_all[${instances}];`);
        out.line(`unsigned* const ${name}_members = ${name}_members_all + ${this.instance(pipeline.group)};`);
      }
    }
  }

  instance(group: Group): string {
    return group.kind === 'tile' ? `ws_thread_rank / ${group.size}` : '0';
  }

  rank(group: Group): string {
    if (group.kind === 'tile') return `ws_thread_rank % ${group.size}`;
    return group.kind === 'thread' ? '0' : 'ws_thread_rank';
  }

  /** The kernel's own sync. Parts of a warp may come to it on different ways, which the plain one forbids. */
  private syncOfCall(call: Extract<Call, { intrinsic: 'sync' | 'memcpyAsync' }>, out: StatementWriter): void {
    const { group, range } = call;
    if (group.kind === 'block' && this.isApart(call)) {
      this.fenceWrites(out);
      out.line('ws_sync_apart();');
    } else this.sync(group, range, out);
  }

  /** What threads wrote to shared memory lies before what the copy engine does there after they meet. */
  fenceWrites(out: StatementWriter): void {
    if (this.fencesWrites) out.line('ws_fence_async();');
  }

  /** A thread that copies for its group must know of what the others did to the places it copies to. */
  meetBefore(copy: Copy, out: StatementWriter): void {
    if (!this.calm.afterBarrier.has(copy)) this.syncOfCall(copy, out);
  }

  sync(group: Group, range: Range, out: StatementWriter): void {
    const place = () => out.expressions.checks.wait({ range, verb: 'sync', group });
    if (group.kind === 'block') {
      this.fenceWrites(out);
      out.line('__syncthreads();');
    } else if (group.kind === 'tile' && group.size <= 32)
      out.line(`__syncwarp(ws_tile_mask<${group.size}>(ws_thread_rank));`);
    else if (group.kind === 'tile') out.line(this.tileBarriers.sync(group.size, place()));
    else if (group.kind === 'grid') out.line(`ws_sync_grid(${place().slice(2)});`);
  }

  /** A thread that ends early leaves no copy of its own behind: the memory may be another block's by then. */
  beforeReturn(out: StatementWriter): void {
    if (this.finishesCopies) out.line('ws_finish_copies();');
  }

  /** What a loop that filled pipelines leaves to do: to commit nothing as often as there was nothing to fetch. */
  afterFill(statement: Statement, out: StatementWriter): void {
    const filling = this.steady.fills.get(statement);
    for (const pipeline of filling?.pipelines ?? []) {
      if (!this.counts(pipeline)) continue;
      const filled = `${this.name(pipeline)}_filled`;
      out.line(`for (; ${filled} < ${filling!.stages}; ++${filled}) ws_commit();`);
    }
  }

  /** What a refill does where nothing is left to fetch: it commits nothing, so that every turn commits once. */
  insteadOfRefill(statement: Statement, out: StatementWriter): void {
    const pipelines = this.steady.refills.get(statement) ?? [];
    if (pipelines.some((pipeline) => this.counts(pipeline))) out.line('else ws_commit();');
  }

  private counts(pipeline: number): boolean {
    return this.lowerings[pipeline] === 'thread' || this.lowerings[pipeline] === 'groups';
  }

  write(call: Exclude<Call, OwnCall>, out: StatementWriter): void {
    if (call.intrinsic === 'sync' && call.mask !== undefined)
      out.line(`__syncwarp(${out.expressions.write(call.mask)});`);
    else if (call.intrinsic === 'sync') this.syncOfCall(call, out);
    else if ('barrier' in call) this.barriers.write(call, out);
    else if (call.intrinsic === 'memcpyAsync') this.copy(call, out);
    else if (call.intrinsic === 'core') throw new TypeError('the program is lowered already');
    else if (call.intrinsic === 'mark') throw new TypeError('a GPU does not tell of stages');
    else this.pipelineCall(call, out);
  }

  private pipelineCall(call: PipelineCall, out: StatementWriter): void {
    const name = this.name(call.pipeline);
    const { stages, group } = this.program.pipelines[call.pipeline]!;
    const lowering = this.lowerings[call.pipeline]!;
    const counts = this.counts(call.pipeline);
    const distance = this.steady.distance.get(call);
    const { pipeline, intrinsic: verb, range } = call;
    const place = () => out.expressions.checks.wait({ range, verb, pipeline });
    switch (call.intrinsic) {
      case 'makePipeline':
        this.make(call, out);
        return;
      case 'producerAcquire':
        if (this.steady.released.has(call)) return;
        if (lowering === 'barriers') {
          const { stage, phase } = this.headAt(call);
          // A stage that was never filled counts as released.
          out.line(`ws_wait(&${name}_empty[${stage}], ${phase} ^ 1${place()});`);
        } else if (lowering !== 'thread') {
          // All threads have released, and so read, the stage that is filled next.
          this.sync(group, call.range, out);
        }
        return;
      case 'producerCommit':
        if (lowering === 'bulk') {
          const { stage } = this.headAt(call);
          const full = `&${name}_full[${stage}]`;
          const arrivals = this.arrivals[call.pipeline]!;
          if (arrivals === 'one') out.line(`${this.inCopier} ws_arrive_expecting(${full}, ${name}_bytes);`);
          else if (arrivals === 'warps')
            out.line(`ws_arrive_of_warp(${full}, ws_copying_warp ? ${name}_bytes : 0u);`);
          else out.line(`ws_arrive_expecting(${full}, ws_thread_rank == 0 ? ${name}_bytes : 0u);`);
          out.line(`${name}_bytes = 0;`);
        } else if (lowering === 'barriers') {
          const { stage } = this.headAt(call);
          if (this.onlyAsynchronous(call.pipeline)) out.line(`ws_arrive_by_copies(&${name}_full[${stage}]);`);
          else {
            out.line(`ws_arrive_after_copies(&${name}_full[${stage}]);`);
            out.line(`ws_arrive(&${name}_full[${stage}]);`);
          }
        } else out.line('ws_commit();');
        if (distance === undefined)
          out.line(counts ? `++${name}_filled;` : this.head(call.pipeline).advance());
        return;
      case 'consumerWait':
        if (!counts) {
          const { stage, phase } = this.tail(call.pipeline).position();
          const wait = lowering === 'bulk' && this.wholeWarps ? 'ws_wait_in_step' : 'ws_wait';
          out.line(`${wait}(&${name}_full[${stage}], ${phase}${place()});`);
        } else if (distance !== undefined) out.line(`ws_wait_group<${distance - 1}>();`);
        else if (lowering === 'thread')
          out.line(`if (${name}_filled > 0) { ws_wait_groups<8>(${name}_filled - 1); --${name}_filled; }`);
        else out.line(`ws_wait_groups<${Math.min(stages - 1, 8)}>(${name}_filled - 1);`);
        if (lowering === 'groups') this.sync(group, call.range, out);
        return;
      case 'consumerWaitPrior':
        out.line(`ws_wait_group<${Math.min(call.prior, 8)}>();`);
        out.line(`if (${name}_filled > ${call.prior}u) ${name}_filled = ${call.prior}u;`);
        return;
      case 'consumerWaitFor':
      case 'consumerWaitUntil':
        this.timedWait(call, out);
        return;
      case 'consumerRelease': {
        if (lowering === 'barriers')
          out.line(`ws_arrive(&${name}_empty[${this.tail(call.pipeline).position().stage}]);`);
        if (lowering === 'groups' && distance === undefined) out.line(`--${name}_filled;`);
        if (!counts) out.line(this.tail(call.pipeline).advance());
        return;
      }
      case 'quit':
        if (call.result !== null) {
          const result = identifier(this.program.variables[call.result]!.name, call.result);
          out.line(lowering === 'thread' ? `${result} = true;` : `${result} = ws_quit(${name}_members);`);
        }
        return;
    }
    call satisfies never;
  }

  /** With thread scope the time is not looked at; all others have barriers. */
  private timedWait(
    call: Extract<Call, { intrinsic: 'consumerWaitFor' | 'consumerWaitUntil' }>,
    out: StatementWriter,
  ): void {
    const { pipeline, range } = call;
    const name = this.name(pipeline);
    const result =
      call.result === null ? '' : `${identifier(this.program.variables[call.result]!.name, call.result)} = `;
    if (this.lowerings[pipeline] === 'thread') {
      this.pipelineCall({ kind: 'call', intrinsic: 'consumerWait', pipeline, range }, out);
      if (result !== '') out.line(`${result}true;`);
      return;
    }
    const wait = call.intrinsic === 'consumerWaitFor' ? 'ws_wait_for' : 'ws_wait_until';
    const time = out.expressions.write(call.time);
    const { stage, phase } = this.tail(pipeline).position();
    out.line(`${result}${wait}(&${name}_full[${stage}], ${phase}, ${time});`);
  }

  /** Sets the cursors back, and the barriers to the numbers of threads that will arrive at them. */
  private make(call: Extract<Call, { intrinsic: 'makePipeline' }>, out: StatementWriter): void {
    const { group, stages, partition } = this.program.pipelines[call.pipeline]!;
    const lowering = this.lowerings[call.pipeline]!;
    const name = this.name(call.pipeline);
    const counts = this.counts(call.pipeline);
    out.line(
      counts
        ? `${name}_filled = 0;`
        : `${this.head(call.pipeline).reset()} ${this.tail(call.pipeline).reset()}`,
    );
    if (lowering === 'thread') return;
    const size = this.groupSize(group);
    out.nested('', () => {
      let [full, empty] = [`${size}u`, `${size}u`];
      const arrivals = this.arrivals[call.pipeline];
      if (lowering === 'bulk' && arrivals !== 'threads') full = arrivals === 'one' ? '1u' : `${size / 32}u`;
      if (partition !== 'unified') {
        const producers = out.expressions.write(call.producers!);
        out.line(
          `const unsigned producers = ${partition === 'count' ? producers : this.count(group, producers, out.expressions.checks.wait({ range: call.range, verb: 'makePipeline', pipeline: call.pipeline }))};`,
        );
        [full, empty] = ['producers', `${size}u - producers`];
      }
      this.sync(group, call.range, out);
      if (lowering === 'groups' && !this.quits.has(call.pipeline)) return;
      out.nested(`if (${this.rank(group)} == 0)`, () => {
        if (lowering !== 'groups') {
          if (this.remade.has(call.pipeline)) this.invalidate(name, lowering, stages, out);
          out.nested(`for (int stage = 0; stage < ${stages}; ++stage)`, () => {
            out.line(`ws_init(&${name}_full[stage], ${full});`);
            if (lowering === 'barriers') out.line(`ws_init(&${name}_empty[stage], ${empty});`);
          });
        }
        if (this.quits.has(call.pipeline)) out.line(`*${name}_members = ${size}u;`);
        if (lowering === 'bulk') out.line('ws_fence_async();');
      });
      this.sync(group, call.range, out);
    });
  }

  /** Barriers that were initialised before must be given up first. */
  private invalidate(name: string, lowering: Lowering, stages: number, out: StatementWriter): void {
    out.nested(`if (${name}_made) for (int stage = 0; stage < ${stages}; ++stage)`, () => {
      out.line(`ws_invalidate(&${name}_full[stage]);`);
      if (lowering === 'barriers') out.line(`ws_invalidate(&${name}_empty[stage]);`);
    });
    out.line(`${name}_made = true;`);
  }

  /** How many threads of the group have a true value. */
  private count(group: Group, value: string, place: string): string {
    if (group.kind === 'tile' && group.size <= 32) {
      const mask = `ws_tile_mask<${group.size}>(ws_thread_rank)`;
      return `__popc(__ballot_sync(${mask}, ${value}) & ${mask})`;
    }
    if (group.kind === 'tile') return this.tileBarriers.count(group.size, value, place);
    return `__syncthreads_count(${value})`;
  }

  /** A hint to have the source of a later copy in the L2 cache by then. */
  private prefetch(copy: Copy, out: StatementWriter): void {
    const prefetch = this.steady.prefetches.get(copy);
    if (prefetch === undefined) return;
    const source = { array: copy.source.array, offset: prefetch.offset };
    if (this.copies.alignmentOf({ ...copy, source }) < 16) return;
    const operands = `${this.copies.address(source, out)}, ${this.copies.bytes(copy, out)}`;
    const when = prefetch.when === null ? '' : `if (${out.expressions.write(prefetch.when)}) `;
    const inside = out.expressions.checks.holds(source, copy.count, out.expressions);
    out.line(`${when}${this.inCopier} ${inside}ws_prefetch(${operands});`);
  }

  /** Whether asynchronous copies into a stage are all that its commit has to order before the wait for it. */
  private onlyAsynchronous(pipeline: number): boolean {
    let only = this.onlyCopiesMeet();
    forEachCall(this.program.body, (call) => {
      if (call.intrinsic === 'memcpyAsync' && 'pipeline' in call && call.pipeline === pipeline)
        only &&= this.copies.isAsynchronous(call) && call.zeroFill === null;
    });
    return only;
  }

  private copy(copy: PipelineCopy, out: StatementWriter): void {
    if (this.lowerings[copy.pipeline] !== 'bulk') {
      this.copies.byThreads(copy, out);
      return;
    }
    const name = this.name(copy.pipeline);
    this.prefetch(copy, out);
    const barrier = `&${name}_full[${this.headAt(copy).stage}]`;
    // The copying thread copies for all: it must know of what they did to the stage.
    if (!this.calm.afterBarrier.has(copy) && !this.onlyCopiesMeet()) this.sync(copy.group, copy.range, out);
    // A thread that fails ends, and another is elected: so the one that tests is the one that copies.
    const steps = [
      this.copies.check(copy, out),
      // What threads read or wrote there before lies before what the engine writes.
      this.calm.fenced.has(copy) ? null : 'ws_fence_async();',
      `ws_bulk_copy(${this.copies.bulkOperands(copy, out)}, ${barrier});`,
    ].filter((step) => step !== null);
    out.line(`${this.inCopier} ${steps.length === 1 ? steps[0] : `{ ${steps.join(' ')} }`}`);
    out.line(`${name}_bytes += ${this.copies.bytes(copy, out)};`);
  }
}
