// The executables that tell of stages, made when a launch is first recorded with them.

import type { Extent3 } from '../../kernel/types.ts';
import type { Executable } from '../../targets/executable.ts';
import type { LaunchWork } from '../launch.ts';
import { blockAt } from '../recording.ts';

export class StageExecutables {
  /** The position of the block that is recorded, if one is. */
  block: Extent3 | null = null;
  readonly #withStages: (executable: Executable) => Executable;
  readonly #records: () => boolean;
  readonly #made = new WeakMap<Executable, Executable>();

  /** `records` says whether anybody wants to know. */
  constructor(withStages: (executable: Executable) => Executable, records: () => boolean) {
    this.#withStages = withStages;
    this.#records = records;
  }

  /** How a launch is to be recorded; null if it is not, or if it has no such block or no pipelines. */
  of({ executable, grid }: LaunchWork): { readonly block: number; readonly executable: Executable } | null {
    if (this.block === null || executable.program.pipelines.length === 0 || !this.#records()) return null;
    const block = blockAt(this.block, grid);
    if (block === null) return null;
    let made = this.#made.get(executable);
    if (made === undefined) {
      made = this.#withStages(executable);
      this.#made.set(executable, made);
    }
    return { block, executable: made };
  }
}
