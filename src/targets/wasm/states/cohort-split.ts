// `split(scratch, cohort, code)`: the cohort's threads with that code become a cohort of their own.
//
// → 0 if there are none, the cohort itself if all have it, else the new cohort's record: a copy of
// the old one's but for its threads. The threads of both stay in ascending order, and what is
// left of the cohort keeps its codes.

import { Code, type FunctionReference } from '../encoder/code.ts';
import type { ModuleWriter } from '../encoder/module.ts';
import { cohortFields, type StatesLayout } from './layout.ts';

/** Declares `split`. Its code is written when the cohorts' records are laid out. */
export class CohortSplit {
  readonly #code: Code;
  readonly #layout: StatesLayout;
  readonly split: FunctionReference;

  constructor(module: ModuleWriter, layout: StatesLayout) {
    this.#layout = layout;
    this.#code = new Code(['scratch', 'cohort', 'code'].map((name) => ({ name, type: 'i32' })));
    this.split = module.function('split', this.#code, ['i32', 'i32', 'i32'], ['i32']);
  }

  write(records: { readonly offset: number; readonly bytes: number }): void {
    const code = this.#code;
    const { members, membersBytes, cohortCount } = this.#layout;
    const [scratch, cohort, wanted] = [0, 1, 2];
    const [position, end, kept, moved, added] = ['position', 'end', 'kept', 'moved', 'added'].map((name) =>
      code.local('i32', name),
    ) as [number, number, number, number, number];
    const codes = membersBytes;
    const space = members + 2 * membersBytes;

    code.get(cohort).memory('i32.load', cohortFields.members).tee(position).set(kept);
    code
      .get(cohort)
      .memory('i32.load', cohortFields.count)
      .i32(2)
      .op('i32.shl')
      .get(position)
      .op('i32.add')
      .set(end);
    code.get(scratch).i32(space).op('i32.add').set(moved);
    code.loop((next) => {
      code.get(position).memory('i32.load', codes).get(wanted).op('i32.eq');
      code.if(
        () => {
          code.get(moved).get(position).memory('i32.load').memory('i32.store');
          code.get(moved).i32(4).op('i32.add').set(moved);
        },
        () => {
          code.get(kept).get(position).memory('i32.load').memory('i32.store');
          code.get(kept).get(position).memory('i32.load', codes).memory('i32.store', codes);
          code.get(kept).i32(4).op('i32.add').set(kept);
        },
      );
      code.get(position).i32(4).op('i32.add').tee(position).get(end).op('i32.ne').brIf(next);
    });
    code.get(moved).get(scratch).i32(space).op('i32.add', 'i32.sub').tee(moved).op('i32.eqz');
    code.if(() => void code.i32(0).op('return'));
    code.get(kept).get(cohort).memory('i32.load', cohortFields.members).op('i32.eq');
    code.if(() => void code.get(cohort).op('return'));

    code.get(kept).get(scratch).i32(space).op('i32.add').get(moved).memoryCopy();
    code.get(cohort).get(kept).get(cohort).memory('i32.load', cohortFields.members).op('i32.sub');
    code.i32(2).op('i32.shr_u').memory('i32.store', cohortFields.count);
    code.get(scratch).memory('i32.load', cohortCount).i32(records.bytes).op('i32.mul');
    code.get(scratch).op('i32.add').i32(records.offset).op('i32.add').set(added);
    code
      .get(scratch)
      .get(scratch)
      .memory('i32.load', cohortCount)
      .i32(1)
      .op('i32.add')
      .memory('i32.store', cohortCount);
    code.get(added).get(cohort).i32(records.bytes).memoryCopy();
    code.get(added).get(kept).memory('i32.store', cohortFields.members);
    code.get(added).get(moved).i32(2).op('i32.shr_u').memory('i32.store', cohortFields.count);
    code.get(added);
  }
}
