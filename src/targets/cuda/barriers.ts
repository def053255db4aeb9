// Barriers that a kernel makes: objects in shared memory, and what is done with them.
//
//   mbarrier  from sm_80 on: the hardware counts, and copies arrive at the barrier by themselves; on
//             sm_90 one thread copies the whole by the copy engine where addresses and size allow it.
//   counter   before that, and where a function runs at the end of each phase: a word that threads
//             count down, and copies that are done before their thread goes on.

import type { Expression, Group, Program } from '../../compiler/ir.ts';
import type { BarrierCall } from '../../compiler/ir-barriers.ts';
import type { Range } from '../../diagnostics/source.ts';
import { CopyWriter } from './copies.ts';
import { type Copy, forEachCall, type LoweringOptions, madeInLoops, returnsAmongCopies } from './lowering.ts';
import type { StatementWriter } from './statements.ts';
import { identifier } from './types.ts';

/** The code by which a group's threads are told apart and meet. */
export interface GroupCode {
  instance(group: Group): string;
  rank(group: Group): string;
  groupSize(group: Group): number;
  sync(group: Group, range: Range, out: StatementWriter): void;
  /** Has a group meet before one thread copies for it, where its threads accessed memory since they last met. */
  meetBefore(copy: Copy, out: StatementWriter): void;
  /** Fences what this thread wrote to shared memory, where the copy engine may overwrite it. */
  fenceWrites(out: StatementWriter): void;
}

type CopyToBarrier = Extract<Copy, { barrier: number }>;

export class BarrierWriter {
  private readonly program: Program;
  private readonly groups: GroupCode;
  private readonly architecture: number;
  private readonly copies: CopyWriter;
  /** Whether threads may return while copies are under way, which the engine's would outlive. */
  private readonly returnsAmongCopies: boolean;
  /** Barriers that may be made again. */
  private readonly remade: ReadonlySet<number>;
  /** Barriers that the copy engine arrives at. */
  private readonly bulk = new Set<number>();

  constructor(
    program: Program,
    { architecture, alignments }: Pick<LoweringOptions, 'architecture' | 'alignments'>,
    groups: GroupCode,
  ) {
    this.program = program;
    this.groups = groups;
    this.architecture = architecture;
    this.copies = new CopyWriter(
      program,
      alignments,
      (group) => `${groups.rank(group)}, ${groups.groupSize(group)}u`,
    );
    this.returnsAmongCopies = returnsAmongCopies(program.body);
    this.remade = madeInLoops(program.body, 'barrier');
    forEachCall(program.body, (call) => {
      if (call.intrinsic === 'memcpyAsync' && 'barrier' in call && this.isBulk(call))
        this.bulk.add(call.barrier);
    });
  }

  private name(barrier: number): string {
    return `b_${identifier(this.program.barriers[barrier]!.name, barrier)}`;
  }

  private isCounter(barrier: number): boolean {
    return this.architecture < 80 || this.program.barriers[barrier]!.completes;
  }

  /** The barriers, in shared memory. */
  declarations(out: StatementWriter): void {
    for (const [id, { group, count }] of this.program.barriers.entries()) {
      const name = this.name(id);
      const type = this.isCounter(id) ? 'ws_counter' : 'ws_barrier';
      const { instance, instances } = this.instances(group);
      out.line(`__shared__ ${type} ${name}_all[${instances * (count ?? 1)}];`);
      out.line(`${type}* const ${name} = ${name}_all + ${instance} * ${count ?? 1};`);
      if (this.remade.has(id)) out.line(`bool ${name}_made = false;`);
    }
  }

  private instances(group: Group): { readonly instance: string; readonly instances: number } {
    const [x, y, z] = this.program.block;
    const instances = group.kind === 'tile' ? Math.ceil((x * y * z) / group.size) : 1;
    return { instance: this.groups.instance(group), instances };
  }

  write(call: BarrierCall, out: StatementWriter): void {
    switch (call.intrinsic) {
      case 'makeBarrier':
        this.make(call, out);
        return;
      case 'barrierArrive':
        this.arrive(call, out);
        return;
      case 'barrierComplete':
        out.line(`ws_complete(${this.pointer(call, out)});`);
        return;
      case 'barrierBind':
        this.bind(call, out);
        return;
      case 'barrierWait':
        this.wait(call, out);
        return;
      case 'memcpyAsync':
        this.copy(call, out);
        return;
      default:
        call satisfies never;
    }
  }

  private pointer(
    call: { readonly barrier: number; readonly index: Expression; readonly range: Range },
    out: StatementWriter,
  ): string {
    const name = this.name(call.barrier);
    const isOnly = this.program.barriers[call.barrier]!.count === null;
    if (isOnly) return name;
    const index = out.expressions.index(call.index);
    return `&${name}[${out.expressions.checks.barrier(index, call.barrier, call.range)}]`;
  }

  private make(call: Extract<BarrierCall, { intrinsic: 'makeBarrier' }>, out: StatementWriter): void {
    const { group, count } = this.program.barriers[call.barrier]!;
    const name = this.name(call.barrier);
    const isRemade = this.remade.has(call.barrier);
    const expected =
      call.expected === null
        ? `${this.groups.groupSize(group)}u`
        : `(unsigned)${out.expressions.write(call.expected)}`;
    if (isRemade) this.groups.sync(group, call.range, out);
    out.nested(`if (${this.groups.rank(group)} == 0)`, () => {
      out.nested(`for (int i = 0; i < ${count ?? 1}; ++i)`, () => {
        if (isRemade) out.line(`if (${name}_made) ws_discard(&${name}[i]);`);
        out.line(`ws_init(&${name}[i], ${expected});`);
      });
      if (this.bulk.has(call.barrier)) out.line('ws_fence_async();');
    });
    if (isRemade) out.line(`${name}_made = true;`);
    this.groups.sync(group, call.range, out);
  }

  private arrive(call: Extract<BarrierCall, { intrinsic: 'barrierArrive' }>, out: StatementWriter): void {
    const isCounter = this.isCounter(call.barrier);
    const { completes } = this.program.barriers[call.barrier]!;
    const kind = isCounter ? `<${completes}>` : '';
    const pointer = this.pointer(call, out);
    const result =
      call.result === null ? '' : `${identifier(this.program.variables[call.result]!.name, call.result)} = `;
    this.groups.fenceWrites(out);
    if (call.drop) {
      out.line(`${result}ws_arrive_and_drop${kind}(${pointer});`);
      return;
    }
    const count = call.count === null ? '1u' : `(unsigned)${out.expressions.write(call.count)}`;
    const isPlain = call.result === null && call.count === null && !isCounter;
    out.line(isPlain ? `ws_arrive(${pointer});` : `${result}ws_arrive_token${kind}(${pointer}, ${count});`);
  }

  private wait(call: Extract<BarrierCall, { intrinsic: 'barrierWait' }>, out: StatementWriter): void {
    const operands = `${this.pointer(call, out)}, ${out.expressions.write(call.phase)}`;
    const suffix = call.by === 'parity' ? '_parity' : '';
    const { limit } = call;
    if (limit === null) {
      const place = out.expressions.checks.wait({ range: call.range, verb: 'wait', barrier: call.barrier });
      out.line(`ws_await${suffix}(${operands}${place});`);
      return;
    }
    const result =
      call.result === null ? '' : `${identifier(this.program.variables[call.result]!.name, call.result)} = `;
    const look = `ws_over${suffix}(${operands})`;
    const looksOnce = limit.kind === 'constant' && !call.until && !(Number(limit.value) > 0);
    const within = call.until ? 'ws_until' : 'ws_within';
    const time = out.expressions.write(limit);
    out.line(`${result}${looksOnce ? look : `${within}(${time}, [&] { return ${look}; })`};`);
  }

  /** The phase is over only when the copies that this thread issued so far are complete. */
  private bind(call: BarrierCall & { readonly index: Expression }, out: StatementWriter): void {
    if (this.isCounter(call.barrier)) out.line('ws_finish_copies();');
    else out.line(`ws_arrive_after_copies(${this.pointer(call, out)});`);
  }

  /** Whether the copy engine makes a copy. */
  isBulk(copy: CopyToBarrier): boolean {
    const { source, destination } = copy;
    if (this.architecture < 90 || this.isCounter(copy.barrier) || this.returnsAmongCopies) return false;
    if (source.array.space !== 'global' || destination.array.space !== 'shared') return false;
    // What a kernel writes itself would have to be fenced before the copy engine reads it.
    const parameter = this.program.parameters[source.array.id]!;
    return parameter.kind === 'array' && parameter.readonly && this.copies.alignmentOf(copy) === 16;
  }

  private copy(copy: CopyToBarrier, out: StatementWriter): void {
    if (!this.isBulk(copy)) {
      this.copies.byThreads(copy, out);
      if (this.copies.isAsynchronous(copy)) this.bind(copy, out);
      return;
    }
    this.groups.meetBefore(copy, out);
    const count = out.expressions.write(copy.count);
    const check = this.copies.check(copy, out);
    if (check !== null) out.line(`if (${this.groups.rank(copy.group)} == 0) ${check}`);
    out.nested(`if (${this.groups.rank(copy.group)} == 0 && ${count} > 0)`, () => {
      // What threads read or wrote there before lies before what the engine writes.
      out.line('ws_fence_async();');
      out.line(`ws_bulk_copy_expected(${this.copies.bulkOperands(copy, out)}, ${this.pointer(copy, out)});`);
    });
  }
}
