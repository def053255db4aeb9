// Blocks that take turns at a loop that strides over the grid.
//
// A block that strides reads a short piece of an array in each turn of its loop, far from the one before; its neighbours read
// what lies between. One block after the other, a processor begins anew with every piece. So several blocks go on by
// turns, a few rounds of the loop each: what they read lies side by side, and what a processor fetches ahead is read.
//
// The loop is one of the block's own statements, and a block is put aside between two of its rounds: then its uniform
// variables are kept in its arena, behind which those of the others lie. Nothing that a program may do tells it who else
// has come how far: no operation of it orders or waits for what other blocks do, and it prints nothing. Of blocks that fault,
// the first is the one that is reported, as where they run one after the other.

import type { ArrayReference, Program, Statement } from '../../compiler/ir.ts';
import { bytesOf } from '../../kernel/layout.ts';
import type { Loop } from '../analysis/counters.ts';
import { constantOf } from '../analysis/elements.ts';
import { anyStatement, assignedBy, expressionsOf, readBy } from '../analysis/walk.ts';
import { type Abreast, planAbreast } from '../legalise/cpu/abreast.ts';
import { type SharedByRounds, sharesArena } from '../legalise/cpu/fresh-rounds.ts';
import { isOblivious, stepsByGrid, stridesOverGrid } from '../legalise/cpu/striding.ts';
import { walkedIn } from '../legalise/cpu/walking.ts';
import { Code, type FunctionReference, type Local } from './encoder/code.ts';
import { LaunchValues } from './launch-values.ts';
import type { Unit } from './unit.ts';
import type { Variables } from './variables.ts';

/** How blocks take turns: rounds in a turn, and the most that their arenas may have together, in bytes and in number. */
const ways = {
  /** Some rounds of the loop: streams in which a block reads an array. */
  rounds: { rounds: 3, bytes: 256 * 1024, blocks: 64 },
  /** A slice of a loop of threads has several by itself. Its pieces are short: the more blocks, the longer memory is read in a row. */
  slices: { rounds: 1, bytes: 384 * 1024, blocks: 128 },
  /** Of a processor's code that walks: several rows of blocks find what they read in the second cache. */
  walks: { rounds: 1, bytes: 256 * 1024, blocks: 256 },
};
const fewestBlocks = 8;
const alignment = 256;
/** In the place of a block's number. */
const ended = -1;
/** More rounds than a loop has, as a u32. */
const endless = -1;
/** What `advance` gives: the blocks are done, a fault was noted, or one was put aside. */
export const outcomes = { done: 0, fault: 1, aside: 2 } as const;

/** How blocks go through a loop abreast. */
export type BlocksAbreast = Abreast & {
  /** What they have one arena for. */
  readonly shares: SharedByRounds;
  /** The array of which they read a row at a time, where they do no more than that: it has to be larger than a cache. */
  readonly walks: ArrayReference | null;
};

/** Where a block stands that was put aside, and what it goes on with. */
export interface Turns {
  readonly loop: Loop;
  /** How blocks go through it abreast, where they may; then nothing is kept. */
  readonly abreast: BlocksAbreast | null;
  /** Offset in the scratch memory: the block's number, then the variables in words of 8 bytes. */
  readonly place: number;
  readonly kept: readonly number[];
  readonly by: keyof typeof ways;
}

/** The turns that blocks take at a program's loop; null where none strides, or they would be told apart. */
export function planTurns(unit: Unit): Turns | null {
  const { program } = unit;
  if (!unit.does('turns')) return null;
  if (program.sharedArrays.some((array) => constantOf(array.count) === null)) return null;
  const loops = program.body.filter((each) => each.kind === 'loop');
  const striding = loops.find((each) => stridesOverGrid(each, program));
  const walking = striding === undefined ? loops.find((each) => walkedIn(each, program) !== null) : undefined;
  const loop = striding ?? walking;
  if (loop === undefined || !loop.testFirst || !isOblivious(program)) return null;
  const own = ofTheBlock(program.body);
  const abreast = planAbreast(program, loop, own);
  if (abreast !== null) {
    const shares = sharesArena(program, loop, own);
    const walks = striding === undefined ? walkedIn(loop, program) : null;
    // Code for a processor asks for the next piece of a copy itself, and other arenas only cost it the first cache; what is
    // read where it comes from is neither copied nor in an arena.
    const isCopied = program.sharedArrays.some((_, id) => !unit.borrowed.has(id));
    if (unit.forProcessor && shares !== 'all' && walks === null && isCopied) return null;
    const by = walks !== null && unit.forProcessor ? 'walks' : 'rounds';
    return { loop, abreast: { ...abreast, shares, walks }, place: 0, kept: [], by };
  }
  if (striding === undefined) return null;
  const inSlices = hasSlices(loop, program);
  if (unit.forProcessor && !inSlices) return null;
  const place = unit.reserveScratch(8 * (1 + own.size));
  return { loop, abreast, place, kept: [...own], by: inSlices ? 'slices' : 'rounds' };
}

/** Whether the threads of a loop's rounds go through loops by the grid's size themselves. */
function hasSlices({ body, update }: Loop, program: Program): boolean {
  return anyStatement(
    [...body, ...update],
    (each) =>
      each.kind === 'region' &&
      anyStatement(each.body, (one) => one.kind === 'loop' && stepsByGrid(one, program)),
  );
}

/** The variables of the block's own statements: those that regions keep for each thread lie in the arena anyway. */
function ofTheBlock(list: readonly Statement[]): Set<number> {
  const found = new Set<number>();
  const visit = (statements: readonly Statement[]) => {
    for (const each of statements) {
      if (each.kind === 'region') {
        for (const id of each.resets) found.add(id);
        continue;
      }
      const variable = assignedBy(each);
      if (variable !== null) found.add(variable);
      for (const id of readBy(...expressionsOf(each))) found.add(id);
      if (each.kind === 'if') visit([...each.then, ...each.otherwise]);
      if (each.kind === 'loop') visit([...each.body, ...each.update]);
      if (each.kind === 'block') visit(each.body);
    }
  };
  visit(list);
  return found;
}

interface Kept {
  readonly unit: Unit;
  readonly code: Code;
  readonly launch: LaunchValues;
  readonly variables: Variables;
}

/** Puts a block aside: its number and its variables. */
export function writeAside({ unit, code, launch, variables }: Kept, { place, kept }: Turns): void {
  code.get(launch.scratch()).get(launch.block).memory('i32.store', place);
  kept.forEach((id, position) => {
    code.get(launch.scratch()).get(variables.local(id));
    code.memory(`${unit.wasmTypeOfVariable(id)}.store`, place + 8 * (1 + position));
  });
}

/** Goes on with it. */
export function writeBack({ unit, code, launch, variables }: Kept, { place, kept }: Turns): void {
  kept.forEach((id, position) => {
    code.get(launch.scratch());
    code.memory(`${unit.wasmTypeOfVariable(id)}.load`, place + 8 * (1 + position)).set(variables.local(id));
  });
}

/**
 * Writes `run(record, arena, block, end)` around `advance(record, arena, block, end, resumes, rounds)`, which runs blocks one
 * after the other until one would go beyond so many rounds, or one that was put aside. Returns how many take
 * turns.
 */
export function writeTurns(unit: Unit, { place, by }: Turns, advance: FunctionReference): number {
  const { rounds } = ways[by];
  const { bytes, blocks } = reserveArenas(unit, by);
  const takeTurns = blocks > 1;
  if (takeTurns) {
    const of = rounds === 1 ? 'a round' : `${rounds} rounds`;
    unit.tell('turns', `up to ${blocks} blocks go on by turns, ${of} of a loop each`);
  }
  const code = new Code(['record', 'arena', 'block', 'end'].map((name) => ({ name, type: 'i32' })));
  unit.module.function('run', code, ['i32', 'i32', 'i32', 'i32'], ['i32'], { exported: true });
  const [record, arena, block, end] = [0, 1, 2, 3];
  if (!takeTurns) {
    code.get(record).get(arena).get(block).get(end).i32(0).i32(endless).call(advance);
    return 1;
  }
  const launch = new LaunchValues(unit, code, { record, arena, block });
  const scratch = launch.scratch();
  const [at, last, going, outcome] = [0, 1, 2, 3].map(() => code.local('i32')) as [
    Local,
    Local,
    Local,
    Local,
  ];
  /** Pushes the address of where a block is put aside, less `place`. */
  const pushPlace = () => code.get(at).get(scratch).op('i32.add').get(arena).op('i32.sub');
  /** Goes on with the block that was put aside at `at`. */
  const resume = (most: number) => {
    code.get(record).get(at);
    pushPlace();
    code.memory('i32.load', place).tee(outcome).get(outcome).i32(1).op('i32.add');
    code.i32(1).i32(most).call(advance).set(outcome);
  };
  const isOutcome = (which: keyof typeof outcomes) => code.get(outcome).i32(outcomes[which]).op('i32.eq');
  const stepTo = () => code.get(at).i32(bytes).op('i32.add').set(at);
  /** Does something for each of those that were put aside below `last` and have not ended. */
  const forEachAside = (write: () => void) =>
    code.block((none) => {
      code.get(arena).set(at);
      code.loop((next) => {
        code.get(at).get(last).op('i32.ge_u').brIf(none);
        pushPlace();
        code.memory('i32.load', place).i32(ended).op('i32.ne').if(write);
        stepTo();
        code.br(next);
      });
    });
  /** Those before the one that faults go on to their ends. What the last fault says is what is reported. */
  const fail = () => {
    code.get(at).set(last);
    forEachAside(() => {
      resume(endless);
      isOutcome('fault').if(() => void code.i32(1).op('return'));
    });
    code.i32(1).op('return');
  };
  const body = code.capture(() => {
    code.loop((more) => {
      code.get(arena).set(at);
      code.block((begun) => {
        code.loop((next) => {
          code.get(block).get(end).op('i32.ge_u').brIf(begun);
          // The last one has nobody to take turns with.
          code.get(record).get(at).get(block).get(end).i32(0).i32(endless).i32(rounds);
          code.get(at).get(arena).op('i32.eq').get(block).i32(1).op('i32.add').get(end);
          code.op('i32.eq', 'i32.and', 'select').call(advance).set(outcome);
          isOutcome('fault').if(fail);
          isOutcome('done').if(() => void code.get(end).set(block).br(begun));
          pushPlace();
          code.memory('i32.load', place).i32(1).op('i32.add').set(block);
          stepTo();
          code
            .get(at)
            .get(arena)
            .op('i32.sub')
            .i32(bytes * blocks)
            .op('i32.lt_u')
            .brIf(next);
        });
      });
      code.get(at).set(last);
      code.loop((turn) => {
        code.i32(0).set(going);
        forEachAside(() => {
          resume(rounds);
          isOutcome('fault').if(fail);
          isOutcome('done').if(
            () => {
              pushPlace();
              code.i32(ended).memory('i32.store', place);
            },
            () => void code.i32(1).set(going),
          );
        });
        code.get(going).brIf(turn);
      });
      code.get(block).get(end).op('i32.lt_u').brIf(more);
    });
  });
  launch.writeLaunchPrologue();
  code.append(body).i32(0);
  return blocks;
}

/** Makes room for the arenas of blocks that take turns, if enough of them find room: how far they lie apart, and how many. */
export function reserveArenas(
  unit: Unit,
  by: Turns['by'],
  shares: SharedByRounds = 'nothing',
): { readonly bytes: number; readonly blocks: number } {
  if (shares === 'all') return { bytes: 0, blocks: ways.rounds.blocks };
  const most = ways[by];
  const shared = unit.program.sharedArrays.reduce(
    (sum, { element, count }, id) =>
      sum + (unit.isOwnArray(id) ? 0 : aligned(Number(constantOf(count)) * bytesOf(element))),
    0,
  );
  const bytes = aligned((shares === 'arrays' ? 0 : shared) + unit.scratchBytes);
  const room = Math.min(Math.floor(most.bytes / bytes), most.blocks);
  const blocks = room >= fewestBlocks ? room : 1;
  if (blocks > 1) unit.reserveScratch(bytes * blocks - unit.scratchBytes);
  return { bytes, blocks };
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / alignment) * alignment;
}
