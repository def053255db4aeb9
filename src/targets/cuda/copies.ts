// Asynchronous copies, as the threads or the copy engine make them.

import type { Group, Program } from '../../compiler/ir.ts';
import { elementBytes } from '../../kernel/types.ts';
import { type Copy, copyAlignment } from './lowering.ts';
import type { StatementWriter } from './statements.ts';
import { arrayName, elementOf } from './types.ts';

export class CopyWriter {
  private readonly program: Program;
  private readonly threadsOf: (group: Group) => string;
  /** The alignment that a copy is known to have, in bytes, up to 16. */
  readonly alignmentOf: (copy: Copy) => number;

  /** `threadsOf` writes a thread's rank in a group and the group's size. */
  constructor(program: Program, alignments: readonly number[], threadsOf: (group: Group) => string) {
    this.program = program;
    this.threadsOf = threadsOf;
    this.alignmentOf = copyAlignment(program, alignments);
  }

  /** Whether cp.async can make a copy. */
  isAsynchronous(copy: Copy): boolean {
    const { source, destination } = copy;
    return (
      this.alignmentOf(copy) >= 4 && source.array.space === 'global' && destination.array.space === 'shared'
    );
  }

  address({ array, offset }: Copy['source'], out: StatementWriter): string {
    return `${arrayName(this.program, array)} + ${out.expressions.index(offset)}`;
  }

  /** The bytes of a copy, as an unsigned. */
  bytes(copy: Copy, out: StatementWriter): string {
    return `(unsigned)${out.expressions.write(copy.count)} * ${this.elementBytes(copy)}u`;
  }

  /** A statement that tests the operands; null where nothing is tested. */
  check(copy: Copy, out: StatementWriter): string | null {
    const { expressions } = out;
    return expressions.checks.copy(copy, {
      to: expressions.index(copy.destination.offset),
      from: expressions.index(copy.source.offset),
      count: expressions.write(copy.count),
      zeros: copy.zeroFill === null ? null : expressions.write(copy.zeroFill),
    });
  }

  /** What the copy engine is told. */
  bulkOperands(copy: Copy, out: StatementWriter): string {
    const [to, from] = [this.address(copy.destination, out), this.address(copy.source, out)];
    return `${to}, ${from}, ${this.bytes(copy, out)}`;
  }

  /** A copy by the threads of its group. What cp.async cannot make is done when they go on. */
  byThreads(copy: Copy, out: StatementWriter): void {
    const [to, from] = [this.address(copy.destination, out), this.address(copy.source, out)];
    const count = out.expressions.write(copy.count);
    const bytes = this.elementBytes(copy);
    const check = this.check(copy, out);
    if (check !== null) out.line(check);
    if (copy.zeroFill !== null) {
      if (copy.count.kind !== 'constant') throw new TypeError('a copy with zeros has a known size');
      const zeros = `(unsigned)${out.expressions.write(copy.zeroFill)} * ${bytes}u`;
      out.line(`ws_copy_zero_filled<${Number(copy.count.value) * bytes}>(${to}, ${from}, ${zeros});`);
      return;
    }
    const threads = this.threadsOf(copy.group);
    if (this.isAsynchronous(copy)) {
      const all = `(unsigned long long)${count} * ${bytes}u`;
      out.line(`ws_copy_async<${this.alignmentOf(copy)}>(${to}, ${from}, ${all}, ${threads});`);
    } else out.line(`ws_copy(${to}, ${from}, ${count}, ${threads});`);
  }

  private elementBytes({ source }: Copy): number {
    return elementBytes[elementOf(this.program, source.array)];
  }
}
