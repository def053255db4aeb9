// What a lowering declares beside what the program has: variables, mbarriers, words of shared memory.

import type { ArrayReference, Program, SharedArray, Statement, Variable } from '../../compiler/ir.ts';
import type { MbarrierArray } from '../../compiler/ir-core.ts';
import type { Range } from '../../diagnostics/source.ts';
import type { Element, Extent3 } from '../../kernel/types.ts';
import { forEachStatement } from '../analysis/walk.ts';
import { Words } from './words.ts';

/** A place for what stands nowhere in the kernel's text. */
const nowhere: Range = { source: 0, start: 0, end: 0 };

export class Frame {
  readonly program: Program;
  readonly blockSize: number;
  readonly #variables: Variable[];
  readonly #sharedArrays: SharedArray[];
  readonly #mbarriers: MbarrierArray[] = [];
  #label = 0;

  constructor(program: Program) {
    const [x, y, z]: Extent3 = program.block;
    this.program = program;
    this.blockSize = x * y * z;
    this.#variables = [...program.variables];
    this.#sharedArrays = [...program.sharedArrays];
    forEachStatement(program.body, (statement) => {
      if (statement.kind === 'loop' || statement.kind === 'block')
        this.#label = Math.max(this.#label, statement.label);
    });
  }

  /** Whether every warp has all its threads, so that they can be asked to act together. */
  get wholeWarps(): boolean {
    return this.blockSize % 32 === 0;
  }

  words(range: Range = nowhere): Words {
    return new Words(range, this.program.indexType);
  }

  variable(name: string, type: Variable['type'], { ghost = false } = {}): number {
    return this.#variables.push({ name, type, ...(ghost ? { ghost } : {}) }) - 1;
  }

  mbarriers(array: Omit<MbarrierArray, 'made' | 'completes' | 'barrier'> & Partial<MbarrierArray>): number {
    const plain = { made: 'hardware', completes: false, barrier: null } as const;
    return this.#mbarriers.push({ ...plain, ...array }) - 1;
  }

  shared(name: string, element: Element, count: number): ArrayReference {
    const words = this.words();
    const array: SharedArray = { name, element, count: words.index(count), own: true, range: words.range };
    return { space: 'shared', id: this.#sharedArrays.push(array) - 1 };
  }

  /** Words in which threads count. */
  counts(name: string, element: 'i32' | 'i64', count: number, { ofGrid = false } = {}): ArrayReference {
    const array = this.shared(name, element, count);
    const counts = { counts: true, ...(ofGrid ? { ofGrid } : {}) };
    this.#sharedArrays[array.id] = { ...this.#sharedArrays[array.id]!, ...counts };
    return array;
  }

  /** An array with a slot for each thread of the block, through which lanes exchange values. */
  exchange(name: string, element: Element, range: Range): ArrayReference {
    const count = this.words(range).index(this.blockSize);
    return {
      space: 'shared',
      id: this.#sharedArrays.push({ name, element, count, exchanges: true, range }) - 1,
    };
  }

  label(): number {
    this.#label += 1;
    return this.#label;
  }

  /** The program with another body, and with all that was declared. */
  finish(body: readonly Statement[]): Program {
    return {
      ...this.program,
      variables: this.#variables,
      sharedArrays: this.#sharedArrays,
      mbarriers: this.#mbarriers,
      body,
    };
  }
}
