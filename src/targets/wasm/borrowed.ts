// Slots of shared arrays that lie where they were copied from (legalise/cpu/borrowing.ts).
//
// For each slot of such an array an address in the block's scratch memory says from where its elements are counted, so that an element's
// address is that and its index in the array. At first that is the array itself; a copy says where its source is, if no
// array of the launch that the kernel writes to has memory in common with it, and copies into the array where one has.

import type { ArrayReference } from '../../compiler/ir.ts';
import { bytesOf } from '../../kernel/layout.ts';
import type { Borrowing } from '../legalise/cpu/borrowing.ts';
import type { Local } from './encoder/code.ts';
import type { ThreadContext } from './thread-context.ts';
import type { Unit } from './unit.ts';

/** An array's slots, and where in the scratch memory their words are. */
export interface Borrowed extends Borrowing {
  readonly place: number;
}

type Writing = Pick<ThreadContext, 'code' | 'unit' | 'launch'>;

/** Bytes of an address. */
export function addressBytes({ addressType }: Pick<Unit, 'addressType'>): number {
  return addressType === 'i64' ? 8 : 4;
}

/** Writes what a block begins with: nothing was copied. */
export function writeNothingBorrowed({ code, unit, launch }: Writing): void {
  for (const [id, { slots, place }] of unit.borrowed) {
    for (let slot = 0; slot < slots; slot += 1) {
      code.get(launch.scratch()).get(launch.address({ space: 'shared', id }));
      code.memory(`${unit.addressType}.store`, place + addressBytes(unit) * slot);
    }
  }
}

/** Pushes from where the elements are counted of the slot that an index is in. */
export function pushOrigin(writing: Writing, borrowed: Borrowed, index: Local): void {
  pushWord(writing, borrowed, index);
  writing.code.memory(`${writing.unit.addressType}.load`, borrowed.place);
}

/** Writes a copy of a slot: it is said where the source is, or `copy` is written. */
export function writeBorrowing(
  writing: Writing,
  { borrowed, to, from }: { readonly borrowed: Borrowed; readonly to: Local; readonly from: Local },
  { target, source }: { readonly target: ArrayReference; readonly source: ArrayReference },
  copy: () => void,
): void {
  const { code, unit, launch } = writing;
  const type = unit.addressType;
  unit.tell('borrow', 'what is copied is read where it comes from');
  pushWord(writing, borrowed, to);
  code.get(launch.isApart(source)).if(
    () => {
      code.get(from).get(to).op('i32.sub');
      unit.writeAsAddress(code);
      code.address(type, bytesOf(unit.elementOf(target))).op(`${type}.mul`);
      code.get(launch.address(source)).op(`${type}.add`);
    },
    () => {
      copy();
      code.get(launch.address(target));
    },
    type,
  );
  code.memory(`${type}.store`, borrowed.place);
}

/** Pushes the address of a slot's word, less `place`. What is not checked yet may lie in no slot, and gets the word of any. */
function pushWord({ code, launch, unit }: Writing, { length, slots }: Borrowed, index: Local): void {
  code.get(index).i32(Math.log2(length)).op('i32.shr_u');
  code
    .i32(slots)
    .op('i32.rem_u')
    .i32(Math.log2(addressBytes(unit)))
    .op('i32.shl');
  code.get(launch.scratch()).op('i32.add');
}
