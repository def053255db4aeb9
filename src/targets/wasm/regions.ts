// Writes a program that its block runs: the function `run`, which runs blocks region by region.
//
//   run(record, arena, first, end) → 0, or 1 after a fault was noted

import type { Call, Region } from '../../compiler/ir.ts';
import type { Uniformity } from '../analysis/uniformity.ts';
import { Code, type Label, type Local } from './encoder/code.ts';
import type { Hoisting } from './hoisting.ts';
import { LaunchValues } from './launch-values.ts';
import { writeMark } from './marks.ts';
import { writeRows } from './rows.ts';
import { Lanes } from './simd/lanes.ts';
import { writeStatements } from './statements.ts';
import type { Frame, ThreadContext } from './thread-context.ts';
import type { Unit } from './unit.ts';
import { Variables } from './variables.ts';

/** Adds `run` to the module; returns whether any region is run in lanes. */
export function writeRegions(
  unit: Unit,
  uniformity: { readonly block: Uniformity; readonly row: Uniformity },
): { readonly vectorised: boolean } {
  const writer = new RegionWriter(unit, uniformity.block, new Lanes(unit, uniformity.row));
  writer.writeRun();
  return { vectorised: writer.vectorised };
}

class RegionWriter {
  readonly #unit: Unit;
  readonly #uniformity: Uniformity;
  readonly #lanes: Lanes;
  vectorised = false;
  readonly #code: Code;
  readonly #launch: LaunchValues;
  readonly #variables: Variables;
  readonly #uniform: ThreadContext;
  #endOfBlock: Label | null = null;

  constructor(unit: Unit, uniformity: Uniformity, lanes: Lanes) {
    this.#unit = unit;
    this.#uniformity = uniformity;
    this.#lanes = lanes;
    this.#code = new Code([
      { name: 'record', type: 'i32' },
      { name: 'arena', type: 'i32' },
      { name: 'block', type: 'i32' },
      { name: 'end', type: 'i32' },
    ]);
    this.#launch = new LaunchValues(unit, this.#code, { record: 0, arena: 1, block: 2 });
    this.#variables = new Variables(unit, this.#code, this.#launch);
    this.#uniform = this.#context({
      ...this.#commonFrame(),
      pushRank: () => void this.#code.i32(0),
      cached: () => null,
      finish: () => void this.#code.br(this.#endOfBlock!),
      collective: (call) => this.#collective(this.#uniform, call),
      region: (region) => this.#writeRegion(region),
    });
  }

  writeRun(): void {
    const code = this.#code;
    const [block, end] = [2, 3];
    this.#unit.module.function('run', code, ['i32', 'i32', 'i32', 'i32'], ['i32'], { exported: true });
    const blocks = code.capture(() => {
      code.block((done) => {
        code.get(block).get(end).op('i32.ge_u').brIf(done);
        code.loop((next) => {
          const body = code.capture(() => {
            code.block((endOfBlock) => {
              this.#endOfBlock = endOfBlock;
              writeStatements(this.#uniform, this.#unit.program.body);
            });
          });
          this.#launch.writeBlockPrologue();
          code.append(body);
          code.get(block).i32(1).op('i32.add').tee(block).get(end).op('i32.lt_u').brIf(next);
        });
      });
    });
    this.#launch.writeLaunchPrologue();
    code.append(blocks);
    code.i32(0);
  }

  #writeRegion(region: Region): void {
    const { vectorised } = writeRows({
      unit: this.#unit,
      code: this.#code,
      region,
      lanes: this.#lanes,
      uniformity: this.#uniformity,
      variables: this.#variables,
      uniform: this.#uniform,
      threadContext: (rank, endOfThread, hoisting) => this.#threadContext(rank, endOfThread, hoisting),
    });
    if (vectorised) this.vectorised = true;
  }

  #threadContext(rank: Local, endOfThread: Label | null, hoisting: Hoisting): ThreadContext {
    const context: ThreadContext = this.#context({
      ...this.#commonFrame(),
      pushRank: () => void this.#code.get(rank),
      cached: (expression) => hoisting.localOf(expression),
      finish: () => void this.#code.br(endOfThread!),
      collective: (call) => this.#collective(context, call),
    });
    return context;
  }

  #collective(context: ThreadContext, call: Call): void {
    if (call.intrinsic !== 'mark') throw new TypeError(`${call.intrinsic} is lowered for a CPU`);
    writeMark(context, call);
  }

  #commonFrame(): Pick<Frame, 'readVariable' | 'writeVariable' | 'fail'> {
    return {
      readVariable: (id) => void this.#code.get(this.#variables.local(id)),
      writeVariable: (id, push) => {
        push();
        this.#code.set(this.#variables.local(id));
      },
      fail: () => void this.#code.i32(1).op('return'),
    };
  }

  #context(frame: Frame): ThreadContext {
    return { unit: this.#unit, code: this.#code, launch: this.#launch, frame, labels: new Map() };
  }
}
