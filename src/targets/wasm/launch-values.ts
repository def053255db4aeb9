// What a function knows of its launch and its block: addresses and lengths of arrays, scalars,
// the grid, the block's place in it.
//
// Each is read from the launch record once, at the start of the function, into a local; and only
// what the code asks for. So the code is written first, into a fragment, and the prologue before
// it. A function that uses this takes the record's and the arena's address as parameters, and a
// local that holds the block's linear number.

import type { ArrayReference } from '../../compiler/ir.ts';
import { bytesOf } from '../../kernel/layout.ts';

import type { Code, Local } from './encoder/code.ts';
import type { MemoryInstruction } from './encoder/opcodes.ts';
import { wasmType } from './types.ts';
import type { Unit } from './unit.ts';

type Axis = 0 | 1 | 2;
const axisNames = ['x', 'y', 'z'] as const;

export class LaunchValues {
  readonly #unit: Unit;
  readonly #code: Code;
  readonly #record: Local;
  readonly #sharesArrays: boolean;
  readonly #arena: Local;
  /** The block's linear number. */
  readonly block: Local;
  readonly #launchLocals = new Map<
    number | 'scratch' | 'scratch of grid' | `exchange ${number}` | `apart ${number}`,
    { readonly local: Local; readonly load: () => void; readonly isOfArena: boolean }
  >();
  readonly #blockAxes = new Map<Axis, Local>();

  /** `sharesArrays`: blocks with other arenas have the shared arrays of the first one. */
  constructor(
    unit: Unit,
    code: Code,
    locals: { record: Local; arena: Local; block: Local },
    sharesArrays = false,
  ) {
    this.#sharesArrays = sharesArrays;
    this.#unit = unit;
    this.#code = code;
    this.#record = locals.record;
    this.#arena = locals.arena;
    this.block = locals.block;
  }

  /** Address of a global or shared array's first element, of the unit's type of addresses. */
  address({ space, id }: ArrayReference): Local {
    const type = this.#unit.addressType;
    if (space === 'shared' && this.#unit.isOwnArray(id)) {
      const scratch = this.scratch();
      const load = () => {
        this.#code.get(scratch).i32(this.#unit.ownArray(id)).op('i32.add');
        this.#unit.writeArenaAddress(this.#code);
      };
      return this.#launchLocal(`exchange ${id}`, this.#unit.arrayName({ space, id }), load, {
        type,
        isOfArena: true,
      });
    }
    const { name, slot } = this.#array(space, id);
    const load = () => {
      if (space === 'global') {
        this.#load(`${type}.load`, slot);
        return;
      }
      this.#load('i32.load', slot);
      this.#code.get(this.#arena).op('i32.add');
      this.#unit.writeArenaAddress(this.#code);
    };
    return this.#launchLocal(slot, name, load, {
      type,
      isOfArena: space === 'shared' && !this.#sharesArrays,
    });
  }

  /** Pushes an array's length, of the program's index type. */
  pushLength(array: ArrayReference): void {
    const code = this.#code;
    const { indexType } = this.#unit.program;
    const known = this.#unit.knownLength(array);
    if (known !== null) {
      if (indexType === 'i64') code.i64(BigInt(known));
      else code.i32(known);
      return;
    }
    const { name, slot } = this.#array(array.space, array.id);
    code.get(this.#length(slot, name));
    const { space, id, as } = array;
    if (as === undefined) return;
    const [own, seen] = [bytesOf(this.#unit.elementOf({ space, id })), bytesOf(as)];
    if (indexType === 'i32' && this.#unit.addressType === 'i32') {
      code.i32(own).op('i32.mul').i32(seen).op('i32.div_u');
      return;
    }
    // The bytes between may be more than 32 bits count.
    if (indexType === 'i32') code.op('i64.extend_i32_u');
    code.i64(BigInt(own)).op('i64.mul').i64(BigInt(seen)).op('i64.div_u');
    if (indexType === 'i32') code.op('i32.wrap_i64');
  }

  /** Of an array, as its own elements. */
  #length(slot: number, name: string): Local {
    const type = this.#unit.program.indexType;
    const load = () => this.#load(`${type}.load`, slot + 8);
    return this.#launchLocal(slot + 8, `${name}.length`, load, { type });
  }

  /** Whether an array of the launch has no memory in common with those that the kernel may write to, as an i32. */
  isApart({ space, id }: ArrayReference): Local {
    const placeOf = (id: number) => {
      const { name, slot } = this.#array(space, id);
      const bytes = bytesOf(this.#unit.elementOf({ space, id }));
      return { address: this.address({ space, id }), length: this.#length(slot, name), bytes };
    };
    const own = placeOf(id);
    const written = this.#unit.program.parameters.flatMap((each, other) =>
      each.kind === 'array' && !each.readonly ? [placeOf(other)] : [],
    );
    const load = () => {
      const code = this.#code;
      const type = this.#unit.addressType;
      code.i32(1);
      for (const other of written) {
        for (const [a, b] of [
          [own, other],
          [other, own],
        ] as const) {
          code.get(b.address).get(a.address).op(`${type}.sub`).get(a.length);
          this.#unit.writeAsAddress(code);
          code.address(type, a.bytes).op(`${type}.mul`, `${type}.ge_u`, 'i32.and');
        }
      }
    };
    return this.#launchLocal(`apart ${id}`, 'apart', load);
  }

  /** A scalar parameter. */
  scalar(id: number): Local {
    const parameter = this.#unit.program.parameters[id]!;
    if (parameter.kind !== 'scalar') throw new Error(`${parameter.name} is not a scalar`);
    const type = wasmType(parameter.type);
    const slot = this.#parameterSlot(id);
    return this.#launchLocal(slot, parameter.name, () => this.#load(`${type}.load`, slot), { type });
  }

  gridDim(axis: Axis): Local {
    return this.#launchLocal(4 * axis, `gridDim.${axisNames[axis]}`, () => this.#load('i32.load', 4 * axis));
  }

  blockIdx(axis: Axis): Local {
    const known = this.#blockAxes.get(axis);
    if (known !== undefined) return known;
    const local = this.#code.local('i32', `blockIdx.${axisNames[axis]}`);
    this.#blockAxes.set(axis, local);
    if (axis > 0) this.gridDim(1);
    this.gridDim(0);
    return local;
  }

  /** Address of the scratch memory behind the shared arrays. */
  scratch(): Local {
    const shared = this.#unit.program.sharedArrays.filter((_, id) => !this.#unit.isOwnArray(id));
    const last = shared.at(-1);
    if (last === undefined) return this.#arena;
    const { slot } = this.#array('shared', shared.length - 1);
    const load = () => {
      this.#load('i32.load', slot);
      this.#load('i32.load', slot + 8);
      this.#code
        .i32(bytesOf(last.element))
        .op('i32.mul', 'i32.add')
        .i32(15)
        .op('i32.add')
        .i32(-16)
        .op('i32.and')
        .get(this.#arena)
        .op('i32.add');
    };
    return this.#launchLocal('scratch', 'scratch', load, { isOfArena: true });
  }

  /** Address of the first block's scratch memory, in a grid whose blocks have arenas of their own. */
  scratchOfGrid(): Local {
    const scratch = this.scratch();
    return this.#launchLocal('scratch of grid', 'scratchOfGrid', () => {
      this.#code.get(scratch).get(this.block);
      this.#load('i32.load', 12);
      this.#code.op('i32.mul', 'i32.sub');
    });
  }

  /** Writes what stands before all code that used these values. */
  writeLaunchPrologue(): void {
    for (const { local, load } of this.#launchLocals.values()) {
      load();
      this.#code.set(local);
    }
  }

  /** Writes what code used of these values that another arena has others of, when its address is set. */
  writeArenaPrologue(): void {
    for (const { local, load, isOfArena } of this.#launchLocals.values()) {
      if (!isOfArena) continue;
      load();
      this.#code.set(local);
    }
  }

  /** Writes what stands at the start of each block, when the block's number is set. */
  writeBlockPrologue(): void {
    const code = this.#code;
    for (const [axis, local] of this.#blockAxes) {
      code.get(this.block);
      if (axis > 0) code.get(this.gridDim(0)).op('i32.div_u');
      if (axis === 0) code.get(this.gridDim(0)).op('i32.rem_u');
      if (axis === 1) code.get(this.gridDim(1)).op('i32.rem_u');
      if (axis === 2) code.get(this.gridDim(1)).op('i32.div_u');
      code.set(local);
    }
  }

  #load(instruction: MemoryInstruction, offset: number): void {
    this.#code.get(this.#record).memory(instruction, offset);
  }

  #parameterSlot(id: number): number {
    return 16 * (1 + id);
  }

  #array(space: ArrayReference['space'], id: number): { name: string; slot: number } {
    const { program } = this.#unit;
    if (space === 'local') throw new Error('a local array has no place in the launch record');
    return space === 'global'
      ? { name: program.parameters[id]!.name, slot: this.#parameterSlot(id) }
      : {
          name: program.sharedArrays[id]!.name,
          slot: this.#parameterSlot(program.parameters.length + id),
        };
  }

  /** The local of what is read from that place of the record, or computed under that key. */
  #launchLocal(
    key: number | 'scratch' | 'scratch of grid' | `exchange ${number}` | `apart ${number}`,
    name: string,
    load: () => void,
    { type = 'i32' as 'i32' | 'i64' | 'f32' | 'f64', isOfArena = false } = {},
  ): Local {
    const known = this.#launchLocals.get(key);
    if (known !== undefined) return known.local;
    const local = this.#code.local(type, name);
    this.#launchLocals.set(key, { local, load, isOfArena });
    return local;
  }
}
