// Pipelines and asynchronous copies, written for the lowering that was chosen for each.
//
// A pipeline keeps a few counters in registers: with barriers the stage and phase that its head and
// its tail stand at, with groups how many stages are committed and not yet released. A light kernel
// has some fifty instructions a batch before it falls behind the memory, so every one counts: what
// only the copying thread needs stands in its own branch, and nothing checks for misuse here.

import type { Call, Group, Program } from '../../compiler/ir.ts';
import { elementBytes } from '../../kernel/types.ts';
import {
  type Copy,
  copyAlignment,
  forEachCall,
  type Lowering,
  madeInLoops,
  storesToShared,
} from './lowering.ts';
import type { CallLowering, OwnCall, StatementWriter } from './statements.ts';
import { arrayName, elementOf, identifier } from './types.ts';

type PipelineCall = Exclude<Extract<Call, { pipeline: number }>, { intrinsic: 'memcpyAsync' }>;

/** Where the head and the tail of a pipeline with barriers stand, and what they start at. */
const cursors = [
  ['head', 0],
  ['head_phase', 1],
  ['tail', 0],
  ['tail_phase', 0],
] as const;

export class PipelineWriter implements CallLowering {
  private readonly program: Program;
  private readonly lowerings: readonly Lowering[];
  private readonly alignmentOf: (copy: Copy) => number;
  private readonly blockSize: number;
  /** Pipelines whose `quit` is asked for its result: they count their members. */
  private readonly quits: ReadonlySet<number>;
  /** Pipelines that are made more than once. */
  private readonly remade: ReadonlySet<number>;
  /** Whether the kernel's own stores reach shared memory, beside the copies. */
  private readonly writesShared: boolean;

  constructor(program: Program, lowerings: readonly Lowering[], alignments: readonly number[]) {
    this.program = program;
    this.lowerings = lowerings;
    this.alignmentOf = copyAlignment(program, alignments);
    this.blockSize = program.block[0] * program.block[1] * program.block[2];
    const quits = new Set<number>();
    forEachCall(program.body, (call) => {
      if (call.intrinsic === 'quit' && call.result !== null) quits.add(call.pipeline);
    });
    this.quits = quits;
    this.remade = madeInLoops(program.body);
    this.writesShared = storesToShared(program.body);
  }

  private name(pipeline: number): string {
    return `p_${identifier(this.program.pipelines[pipeline]!.name, pipeline)}`;
  }

  private groupSize(group: Group): number {
    if (group.kind === 'tile') return group.size;
    return group.kind === 'block' ? this.blockSize : 1;
  }

  /** The barriers of all pipelines, in shared memory, and their counters. */
  declarations(out: StatementWriter): void {
    for (const [id, pipeline] of this.program.pipelines.entries()) {
      const name = this.name(id);
      const lowering = this.lowerings[id]!;
      const instances = pipeline.group.kind === 'tile' ? Math.ceil(this.blockSize / pipeline.group.size) : 1;
      if (lowering === 'thread' || lowering === 'groups') out.line(`unsigned ${name}_filled = 0;`);
      else out.line(`unsigned ${cursors.map(([field, start]) => `${name}_${field} = ${start}`).join(', ')};`);
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

  private instance(group: Group): string {
    return group.kind === 'tile' ? `ws_thread_rank / ${group.size}` : '0';
  }

  private rank(group: Group): string {
    if (group.kind === 'tile') return `ws_thread_rank % ${group.size}`;
    return group.kind === 'thread' ? '0' : 'ws_thread_rank';
  }

  private sync(group: Group, out: StatementWriter): void {
    if (group.kind === 'block') out.line('__syncthreads();');
    else if (group.kind === 'tile' && group.size <= 32)
      out.line(`__syncwarp(ws_tile_mask<${group.size}>(ws_thread_rank));`);
    else if (group.kind === 'tile') {
      out.line(
        `asm volatile("bar.sync %0, ${group.size};" ::"r"(1 + ws_thread_rank / ${group.size}) : "memory");`,
      );
    } else if (group.kind === 'grid')
      throw new TypeError('a grid cannot synchronise without a cooperative launch');
  }

  write(call: Exclude<Call, OwnCall>, out: StatementWriter): void {
    if (call.intrinsic === 'sync' && call.mask !== undefined)
      out.line(`__syncwarp(${out.expressions.write(call.mask)});`);
    else if (call.intrinsic === 'sync') this.sync(call.group, out);
    else if (call.intrinsic === 'memcpyAsync') this.copy(call, out);
    else this.pipelineCall(call, out);
  }

  private pipelineCall(call: PipelineCall, out: StatementWriter): void {
    const name = this.name(call.pipeline);
    const { stages, group } = this.program.pipelines[call.pipeline]!;
    const lowering = this.lowerings[call.pipeline]!;
    const advance = (end: 'head' | 'tail') => {
      out.line(`if (++${name}_${end} == ${stages}) { ${name}_${end} = 0; ${name}_${end}_phase ^= 1; }`);
    };
    switch (call.intrinsic) {
      case 'makePipeline':
        this.make(call, out);
        return;
      case 'producerAcquire':
        if (lowering === 'barriers') out.line(`ws_wait(&${name}_empty[${name}_head], ${name}_head_phase);`);
        else if (lowering !== 'thread') {
          // Everybody has released, and so read, the stage that is filled next. What the threads
          // themselves wrote there must be ordered before the copy engine's writing too.
          if (lowering === 'bulk' && this.writesShared) out.line('ws_fence_async();');
          this.sync(group, out);
        }
        return;
      case 'producerCommit':
        if (lowering === 'bulk') {
          out.nested('if (ws_thread_rank == 0)', () => {
            out.line(`ws_arrive(&${name}_full[${name}_head]);`);
            advance('head');
          });
          return;
        }
        if (lowering === 'barriers') {
          out.line(`ws_arrive_after_copies(&${name}_full[${name}_head]);`);
          out.line(`ws_arrive(&${name}_full[${name}_head]);`);
        } else out.line('ws_commit();');
        if (lowering === 'barriers') advance('head');
        else out.line(`++${name}_filled;`);
        return;
      case 'consumerWait':
        if (lowering === 'thread') {
          out.line(`if (${name}_filled > 0) { ws_wait_groups<8>(${name}_filled - 1); --${name}_filled; }`);
        } else if (lowering === 'barriers')
          out.line(`ws_wait(&${name}_full[${name}_tail], ${name}_tail_phase);`);
        else if (lowering === 'bulk') out.line(`ws_wait(&${name}_full[${name}_tail], ${name}_tail_phase);`);
        else {
          out.line(`ws_wait_groups<${Math.min(stages - 1, 8)}>(${name}_filled - 1);`);
          this.sync(group, out);
        }
        return;
      case 'consumerWaitPrior':
        out.line(`ws_wait_group<${Math.min(call.prior, 8)}>();`);
        out.line(`if (${name}_filled > ${call.prior}u) ${name}_filled = ${call.prior}u;`);
        return;
      case 'consumerWaitFor':
      case 'consumerWaitUntil':
        this.timedWait(call, out);
        return;
      case 'consumerRelease':
        if (lowering === 'thread') return;
        if (lowering === 'barriers') out.line(`ws_arrive(&${name}_empty[${name}_tail]);`);
        if (lowering === 'groups') out.line(`--${name}_filled;`);
        else advance('tail');
        return;
      case 'quit':
        if (call.result !== null) {
          const result = identifier(this.program.variables[call.result]!.name, call.result);
          out.line(
            lowering === 'thread' ? `${result} = true;` : `${result} = atomicSub(${name}_members, 1u) == 1u;`,
          );
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
    out.line(`${result}${wait}(&${name}_full[${name}_tail], ${name}_tail_phase, ${time});`);
  }

  /** Sets the cursors back, and the barriers to the numbers of threads that will arrive at them. */
  private make(call: Extract<Call, { intrinsic: 'makePipeline' }>, out: StatementWriter): void {
    const { group, stages, partition } = this.program.pipelines[call.pipeline]!;
    const lowering = this.lowerings[call.pipeline]!;
    const name = this.name(call.pipeline);
    const counts = lowering === 'thread' || lowering === 'groups';
    out.line(
      counts
        ? `${name}_filled = 0;`
        : `${cursors.map(([field, start]) => `${name}_${field} = ${start};`).join(' ')}`,
    );
    if (lowering === 'thread') return;
    const size = this.groupSize(group);
    out.nested('', () => {
      let [full, empty] = [lowering === 'bulk' ? '1u' : `${size}u`, `${size}u`];
      if (partition !== 'unified') {
        const producers = out.expressions.write(call.producers!);
        out.line(
          `const unsigned producers = ${partition === 'count' ? producers : this.count(group, producers)};`,
        );
        [full, empty] = ['producers', `${size}u - producers`];
      }
      this.sync(group, out);
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
      this.sync(group, out);
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
  private count(group: Group, value: string): string {
    if (group.kind === 'tile' && group.size <= 32) {
      const mask = `ws_tile_mask<${group.size}>(ws_thread_rank)`;
      return `__popc(__ballot_sync(${mask}, ${value}) & ${mask})`;
    }
    if (group.kind === 'tile') return `ws_tile_count<${group.size}>(ws_thread_rank, ${value})`;
    return `__syncthreads_count(${value})`;
  }

  /** The size of a copy with zeros at its end: 4, 8 or 16. */
  private bytesOf({ count, source }: Copy): number {
    if (count.kind !== 'constant') throw new TypeError('a copy with zeros has a known size');
    return Number(count.value) * elementBytes[elementOf(this.program, source.array)];
  }

  private copy(copy: Copy, out: StatementWriter): void {
    const { program } = this;
    const element = elementOf(program, copy.source.array);
    const bytes = elementBytes[element];
    const address = (view: Copy['source']) => {
      return `${arrayName(program, view.array)} + ${out.expressions.index(view.offset)}`;
    };
    const [to, from] = [address(copy.destination), address(copy.source)];
    const count = out.expressions.write(copy.count);
    if (this.lowerings[copy.pipeline] === 'bulk') {
      const barrier = `&${this.name(copy.pipeline)}_full[${this.name(copy.pipeline)}_head]`;
      out.line(
        `if (ws_thread_rank == 0) ws_bulk_copy(${to}, ${from}, (unsigned)${count} * ${bytes}u, ${barrier});`,
      );
      return;
    }
    const alignment = this.alignmentOf(copy);
    if (copy.zeroFill !== null) {
      const zeros = `(unsigned)${out.expressions.write(copy.zeroFill)} * ${bytes}u`;
      out.line(`ws_copy_zero_filled<${this.bytesOf(copy)}>(${to}, ${from}, ${zeros});`);
      return;
    }
    const threads = `${this.rank(copy.group)}, ${this.groupSize(copy.group)}u`;
    const asynchronous =
      alignment >= 4 && copy.source.array.space === 'global' && copy.destination.array.space === 'shared';
    if (asynchronous) {
      out.line(
        `ws_copy_async<${alignment}>(${to}, ${from}, (unsigned long long)${count} * ${bytes}u, ${threads});`,
      );
    } else out.line(`ws_copy(${to}, ${from}, ${count}, ${threads});`);
  }
}
