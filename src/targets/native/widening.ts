// Vectors of the machine's width: what a group of lanes does for neighbouring vectors, done for two or four at once.
//
// The writers of lanes repeat each statement for the vectors of a group, with a mark (`nop`) in front of each copy and
// behind the last. Where such copies differ in nothing but the vectors' locals, by position, and in a vector's bytes from address to
// address, they are carried out together: what is the same in all of them once, the rest by a vector as wide as all. No
// copy reads a local that another one writes. Memory needs no proof: the copies are those of different threads, which
// between two meetings do not read what others write.What
// copies read that was written before them is one wide variable in the whole function; a local that would stand at
// two places keeps its copies as they are.

import type { WasmType } from '../wasm/encoder/code.ts';
import type { Instruction } from '../wasm/encoder/decode.ts';
import { Copies, type Joining, type Output, type Separated, type Times, WideLocals } from './copies.ts';

/** Copies that are carried out together. */
export interface Together {
  readonly times: Times;
  /** Where each copy's mark is, and that behind the last. */
  readonly marks: readonly number[];
}

/** Finds what can be carried out together; by the position of its first mark. */
export function findTogether(
  body: readonly Instruction[],
  locals: readonly WasmType[],
  parameters: number,
  widest: Times,
): { readonly together: ReadonlyMap<number, Together>; readonly wide: WideLocals } {
  const together = new Map<number, Together>();
  const wide = new WideLocals();
  const marks = [...body.keys()].filter((position) => isMark(body[position]!));
  const allTimes: readonly Times[] = widest === 4 ? [4, 2] : [2];
  /** All that lies between so many marks, and is not taken with others already. */
  const each = (times: Times, taken: ReadonlySet<number>, use: (found: Together) => void) => {
    for (let at = 0; at + times < marks.length; at += 1) {
      const found = { times, marks: marks.slice(at, at + times + 1) };
      const own = found.marks.slice(0, -1);
      const isEmpty = own.some((mark, copy) => mark + 1 === found.marks[copy + 1]);
      if (!isEmpty && !own.some((mark) => taken.has(mark))) use(found);
    }
  };
  const isOwn = (local: number) => local >= parameters && locals[local] === 'v128';
  for (const times of allTimes) {
    each(times, new Set(), (found) => {
      const copies = separated(body, found);
      if (copies === null) return;
      const read: (readonly number[])[] = [];
      const joining: Joining = {
        wide,
        allows: (parts, isRead) => {
          if (!parts.every(isOwn)) return false;
          if (isRead) read.push(parts);
          return true;
        },
      };
      if (!new Copies(copies, times, locals, joining).write(unwritten)) return;
      for (const parts of read) if (parts.every((part) => wide.of(part) === undefined)) wide.add(parts);
    });
  }
  const taken = new Set<number>();
  for (const times of allTimes) {
    each(times, taken, (found) => {
      const copies = separated(body, found);
      const joining = joiningOf(wide, isOwn);
      if (copies === null || !new Copies(copies, times, locals, joining).write(unwritten)) return;
      together.set(found.marks[0]!, found);
      for (const mark of found.marks.slice(0, -1)) taken.add(mark);
    });
  }
  return { together, wide };
}

function joiningOf(wide: WideLocals, isOwn: (local: number) => boolean): Joining {
  return {
    wide,
    allows: (parts, isRead) => {
      const known = parts.map((part) => wide.of(part)).find((each) => each !== undefined);
      if (known === undefined) return !isRead && parts.every(isOwn);
      return known.parts.join() === parts.join();
    },
  };
}

export function isMark(instruction: Instruction): boolean {
  return instruction.kind === 'plain' && instruction.name === 'nop';
}

/** The copies, and apart from the first what it does for the others, too; null where that is not to be told apart. */
function separated(body: readonly Instruction[], { marks }: Together): Separated | null {
  const [first, ...others] = marks.slice(0, -1).map((mark, copy) => body.slice(mark + 1, marks[copy + 1]));
  const [second] = others as [Instruction[]];
  if (others.some(({ length }) => length !== second.length)) return null;
  const shared: Instruction[] = [];
  const rest: Instruction[] = [];
  let at = 0;
  for (const other of second) {
    if (other.kind === 'get') {
      const one = first![at];
      const isGot = one?.kind === 'get' && one.local === other.local;
      const filled = isGot ? -1 : first!.findIndex((each, i) => i >= at && fills(each, other.local));
      if (filled >= 0) {
        const { local } = other;
        shared.push(...first!.slice(at, filled), { kind: 'set', local });
        at = filled + 1;
        if (first![filled]!.kind === 'tee') {
          rest.push(other);
          continue;
        }
      }
    }
    const one = first![at++];
    if (one === undefined) return null;
    rest.push(one);
  }
  return at === first!.length && isPlain(shared) ? { shared, copies: [rest, ...others] } : null;
}

function fills(instruction: Instruction, local: number): boolean {
  return (instruction.kind === 'set' || instruction.kind === 'tee') && instruction.local === local;
}

/** Whether instructions leave nothing but locals behind them, save where they end the function. */
function isPlain(instructions: readonly Instruction[]): boolean {
  let depth = 0;
  return (
    instructions.every((each, at) => {
      const { kind } = each;
      if (kind === 'plain') return each.name !== 'unreachable' && (each.name !== 'return' || depth > 0);
      if (kind === 'memory') return !/store|atomic/.test(each.name);
      if (kind === 'if') {
        depth += 1;
        return each.type === null;
      }
      if (kind === 'end') {
        depth -= 1;
        const last = instructions[at - 1]!;
        return depth >= 0 && last.kind === 'plain' && last.name === 'return';
      }
      return kind === 'call'
        ? depth > 0
        : ['get', 'set', 'tee', 'constant', 'shuffle', 'lane'].includes(kind);
    }) && depth === 0
  );
}

const unwritten: Output = {
  value: () => '',
  variable: () => '',
  line: () => {},
  plain: () => {},
  get: () => '',
  set: () => {},
  address: () => '',
};

/** Writes what was found. */
export function writeTogether(
  body: readonly Instruction[],
  found: Together,
  locals: readonly WasmType[],
  wide: WideLocals,
  output: Output,
): void {
  const copies = separated(body, found);
  const joining = joiningOf(wide, () => true);
  if (copies === null || !new Copies(copies, found.times, locals, joining).write(output))
    throw new Error('what was found to go together does not');
}
