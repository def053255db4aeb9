// Writes a program that its block runs: the function `run`, which runs blocks region by region.
//
//   run(record, arena, first, end) → 0, or 1 after a fault was noted
//
// Where blocks take turns at a loop (turns.ts), what runs them is `advance`, which may put one aside.

import type { Call, Region, Statement } from '../../compiler/ir.ts';
import type { Uniformity } from '../analysis/uniformity.ts';
import { type AbreastLocals, writeAbreast } from './abreast.ts';
import { writeNothingBorrowed } from './borrowed.ts';
import { Code, type FunctionReference, type Label, type Local } from './encoder/code.ts';
import { pushExpression } from './expressions.ts';
import type { Hoisting } from './hoisting.ts';
import { LaunchValues } from './launch-values.ts';
import { writeMark } from './marks.ts';
import { writeRows } from './rows.ts';
import { Lanes } from './simd/lanes.ts';
import { writeLoop, writeStatements } from './statements.ts';
import type { Frame, ThreadContext } from './thread-context.ts';
import {
  outcomes,
  planTurns,
  reserveArenas,
  type Turns,
  writeAside,
  writeBack,
  writeTurns,
} from './turns.ts';
import type { Unit } from './unit.ts';
import { Variables } from './variables.ts';

/** Adds `run` to the module; returns whether any region is run in lanes, and how many blocks take turns. */
export function writeRegions(
  unit: Unit,
  uniformity: { readonly block: Uniformity; readonly row: Uniformity },
): { readonly vectorised: boolean; readonly blocksInTurn: number } {
  const turns = planTurns(unit);
  const writer = new RegionWriter(unit, uniformity.block, new Lanes(unit, uniformity.row), turns);
  if (turns?.abreast) {
    const blocksInTurn = writer.writeRunAbreast(turns.abreast, turns.by);
    return { vectorised: writer.vectorised, blocksInTurn };
  }
  const run = writer.writeRun();
  return { vectorised: writer.vectorised, blocksInTurn: turns === null ? 1 : writeTurns(unit, turns, run) };
}

const parameters = ['record', 'arena', 'block', 'end'] as const;
const ofTurns = ['resumes', 'most'] as const;

class RegionWriter {
  readonly #unit: Unit;
  readonly #uniformity: Uniformity;
  readonly #lanes: Lanes;
  vectorised = false;
  readonly #code: Code;
  readonly #launch: LaunchValues;
  readonly #variables: Variables;
  readonly #uniform: ThreadContext;
  readonly #turns: Turns | null;
  #endOfBlock: Label | null = null;
  /** Where a block goes that fails; null where the function then ends. */
  #endOfFailed: Label | null = null;

  constructor(unit: Unit, uniformity: Uniformity, lanes: Lanes, turns: Turns | null) {
    this.#unit = unit;
    this.#uniformity = uniformity;
    this.#lanes = lanes;
    this.#turns = turns;
    const names = [...parameters, ...(turns === null || turns.abreast ? [] : ofTurns)];
    this.#code = new Code(names.map((name) => ({ name, type: 'i32' })));
    const sharesArrays = turns?.abreast?.shares === 'arrays';
    this.#launch = new LaunchValues(unit, this.#code, { record: 0, arena: 1, block: 2 }, sharesArrays);
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

  /** Writes `run`, or `advance` where blocks take turns. */
  writeRun(): FunctionReference {
    const code = this.#code;
    const [block, end] = [2, 3];
    const { module } = this.#unit;
    const takes = [...parameters, ...(this.#turns === null ? [] : ofTurns)].map(() => 'i32' as const);
    const run =
      this.#turns === null
        ? module.function('run', code, takes, ['i32'], { exported: true })
        : module.function('advance', code, takes, ['i32']);
    const blocks = code.capture(() => {
      code.block((done) => {
        code.get(block).get(end).op('i32.ge_u').brIf(done);
        code.loop((next) => {
          const body = code.capture(() => {
            code.block((endOfBlock) => {
              this.#endOfBlock = endOfBlock;
              this.#writeBody(this.#unit.program.body);
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
    return run;
  }

  /** Writes `run` where blocks go through a loop abreast; returns how many. */
  writeRunAbreast(abreast: NonNullable<Turns['abreast']>, by: Turns['by']): number {
    const code = this.#code;
    const unit = this.#unit;
    unit.module.function('run', code, ['i32', 'i32', 'i32', 'i32'], ['i32'], { exported: true });
    let locals: AbreastLocals | null = null;
    const all = code.capture(() => {
      locals = writeAbreast(
        {
          unit,
          code,
          launch: this.#launch,
          variables: this.#variables,
          parameters: { arena: 1, block: 2, end: 3 },
          writeBegin: unit.borrowed.size === 0 ? null : () => writeNothingBorrowed(this.#uniform),
          writeStatements: (statements) => writeStatements(this.#uniform, statements),
          pushTest: () => pushExpression(this.#uniform, abreast.loop.test!),
          failTo: (label) => {
            this.#endOfFailed = label;
          },
        },
        abreast,
      );
    });
    const { bytes, blocks } = reserveArenas(unit, by, abreast.shares);
    const where = { all: ' in one arena', arrays: ', whose shared arrays are the same', nothing: '' }[
      abreast.shares
    ];
    if (blocks > 1) unit.tell('turns', `up to ${blocks} blocks go through a loop abreast${where}`);
    code.i32(bytes).set(locals!.bytes).i32(blocks).set(locals!.blocks);
    this.#launch.writeLaunchPrologue();
    code.append(all).i32(0);
    return blocks;
  }

  #writeBody(body: readonly Statement[]): void {
    const turns = this.#turns;
    if (turns === null) {
      writeNothingBorrowed(this.#uniform);
      writeStatements(this.#uniform, body);
      return;
    }
    const code = this.#code;
    const kept = { unit: this.#unit, code, launch: this.#launch, variables: this.#variables };
    const [resumes, most] = [4, 5];
    const left = code.local('i32', 'left');
    const { loop } = turns;
    const position = body.indexOf(loop);
    code.get(most).set(left);
    code.get(resumes).if(
      () => writeBack(kept, turns),
      () => {
        writeNothingBorrowed(this.#uniform);
        writeStatements(this.#uniform, body.slice(0, position));
      },
    );
    writeLoop(this.#uniform, loop, {
      pushTest: (test) => pushExpression(this.#uniform, test),
      // Who would go on is put aside, and finds so again.
      writeBody: () => {
        code
          .get(left)
          .op('i32.eqz')
          .if(() => {
            writeAside(kept, turns);
            code.i32(outcomes.aside).op('return');
          });
        code.get(left).i32(1).op('i32.sub').set(left);
        writeStatements(this.#uniform, loop.body);
      },
      writeUpdate: () => writeStatements(this.#uniform, loop.update),
    });
    writeStatements(this.#uniform, body.slice(position + 1));
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
      fail: () => {
        if (this.#endOfFailed === null) this.#code.i32(1).op('return');
        else this.#code.br(this.#endOfFailed);
      },
    };
  }

  #context(frame: Frame): ThreadContext {
    return { unit: this.#unit, code: this.#code, launch: this.#launch, frame, labels: new Map() };
  }
}
