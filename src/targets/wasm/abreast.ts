// Blocks that go through a loop abreast: in each round of it one after the other, in arenas that lie side by side.
//
//   for (; first < end; first = last) {
//     last = …                                     as many as their arenas allow
//     for (block of first … last) before
//     for (; test; update)
//       for (block of first … last) body
//     for (block of first … last) after
//   }
//
// What a block's variables have at the head of a round is the same in all, or computed again (legalise/cpu/abreast.ts). A block that
// fails is the last one from then on, as its launch ends with it: those before it go on, and may fail before it.
//
// Arenas of their own cost the first cache; so a block goes alone until one had more rounds than a few. Where no
// round finds what an earlier one left (legalise/cpu/fresh-rounds.ts), all blocks have one arena.

import type { Statement } from '../../compiler/ir.ts';
import { bytesOf } from '../../kernel/layout.ts';
import type { Code, Label, Local } from './encoder/code.ts';
import type { LaunchValues } from './launch-values.ts';
import type { BlocksAbreast } from './turns.ts';
import type { Unit } from './unit.ts';
import type { Variables } from './variables.ts';

/** What blocks are written with. */
export interface BlockWriting {
  readonly unit: Unit;
  readonly code: Code;
  readonly launch: LaunchValues;
  readonly variables: Variables;
  readonly parameters: { readonly arena: Local; readonly block: Local; readonly end: Local };
  /** Writes what each block begins with, where that is more than statements. */
  readonly writeBegin: (() => void) | null;
  readonly writeStatements: (statements: readonly Statement[]) => void;
  /** Pushes the loop's test, as an i32. */
  readonly pushTest: () => void;
  /** Says where those go that fail. */
  readonly failTo: (label: Label) => void;
}

/** Locals whose values are known when all is written: bytes from arena to arena, and how many blocks go abreast. */
export interface AbreastLocals {
  readonly bytes: Local;
  readonly blocks: Local;
}

/** With fewer rounds, blocks with arenas of their own go one after the other. */
const fewRounds = 4;
/** An array of fewer bytes is still in a cache when the next row of blocks comes back to it. */
const cacheBytes = 2 ** 20;

/** Writes all blocks of a launch, and returns from the function where one fails. */
export function writeAbreast(
  writing: BlockWriting,
  { before, loop, after, again, carried, walks }: BlocksAbreast,
): AbreastLocals {
  const { unit, code, launch, variables, parameters, writeBegin, writeStatements } = writing;
  const { arena, block, end } = parameters;
  const [base, first, last, next, width, rounds] = [
    code.local('i32', 'base'),
    code.local('i32', 'first'),
    code.local('i32', 'last'),
    code.local('i32', 'next'),
    code.local('i32', 'width'),
    code.local('i32', 'rounds'),
  ];
  const locals = { bytes: code.local('i32', 'bytes'), blocks: code.local('i32', 'abreast') };
  const shadows = carried.map((id) => {
    const type = unit.wasmTypeOfVariable(id);
    return { variable: variables.local(id), begin: code.local(type), end: code.local(type) };
  });
  const forEachBlock = (write: () => void) => {
    code.get(first).set(block).get(base).set(arena);
    code.block((done) => {
      code.loop((more) => {
        const body = code.capture(() => {
          code.block((failed) => {
            writing.failTo(failed);
            write();
            code.get(arena).get(locals.bytes).op('i32.add').set(arena);
            code.get(block).i32(1).op('i32.add').tee(block).get(last).op('i32.lt_u').brIf(more).br(done);
          });
        });
        launch.writeArenaPrologue();
        launch.writeBlockPrologue();
        code.append(body);
        code
          .get(block)
          .tee(last)
          .get(first)
          .op('i32.eq')
          .if(() => void code.i32(1).op('return'));
      });
    });
  };
  code.get(arena).set(base);
  code.get(locals.blocks).i32(1).get(locals.bytes).op('i32.eqz', 'select').set(width);
  code.block((done) => {
    code.loop((more) => {
      code.get(block).get(end).op('i32.ge_u').brIf(done);
      code.i32(0).set(rounds);
      code.get(block).tee(first).get(width).op('i32.add').tee(next).get(end);
      code.get(next).get(end).op('i32.lt_u', 'select').tee(next).set(last);
      if (writeBegin !== null || before.length > 0) {
        forEachBlock(() => {
          writeBegin?.();
          writeStatements(before);
        });
      }
      code.block((exit) => {
        code.loop((top) => {
          const test = () => {
            if (loop.test === null) code.i32(1);
            else writing.pushTest();
          };
          if (loop.testFirst) {
            test();
            code.op('i32.eqz').brIf(exit);
          }
          code.get(rounds).i32(1).op('i32.add').set(rounds);
          for (const { variable, begin } of shadows) code.get(variable).set(begin);
          forEachBlock(() => {
            writeStatements(again);
            for (const { variable, begin } of shadows) code.get(begin).set(variable);
            writeStatements(loop.body);
            for (const shadow of shadows) code.get(shadow.variable).set(shadow.end);
          });
          for (const { variable, end: value } of shadows) code.get(value).set(variable);
          writeStatements(loop.update);
          if (loop.testFirst) {
            code.br(top);
          } else {
            test();
            code.brIf(top);
          }
        });
      });
      if (after.length > 0) {
        forEachBlock(() => {
          writeStatements(again);
          writeStatements(after);
        });
      }
      code
        .get(last)
        .get(next)
        .op('i32.ne')
        .if(() => void code.i32(1).op('return'));
      code.get(rounds).i32(fewRounds).op('i32.ge_u');
      if (walks !== null) {
        const { indexType } = unit.program;
        launch.pushLength(walks);
        code.address(indexType, Math.ceil(cacheBytes / bytesOf(unit.elementOf(walks))));
        code.op(`${indexType}.ge_u`, 'i32.and');
      }
      code.if(() => void code.get(locals.blocks).set(width));
      code.get(next).set(block).br(more);
    });
  });
  return locals;
}
