// Statements of lanes that are written together, vector by vector, since they load from the same elements or store to them.
//
// What is loaded of an element is loaded once for a run; nothing is stored before its end. Stores of a run are made
// when all their values are computed, so that no value may ask what a store before it has changed.

import type { Expression, Statement } from '../../../compiler/ir.ts';
import { bytesOf } from '../../../kernel/layout.ts';
import { arrayKey, keyOf } from '../../analysis/expression-key.ts';
import { mayFail } from '../../analysis/failing.ts';
import { anyOperand } from '../../analysis/walk.ts';
import type { GroupContext } from './group.ts';
import type { Store } from './interleaved.ts';
import type { Lanes } from './lanes.ts';
import { vectorsOf } from './pairs.ts';

export type Assign = Extract<Statement, { kind: 'assign' }>;
export type Run =
  | { readonly kind: 'assigns'; readonly statements: readonly Assign[] }
  | { readonly kind: 'stores'; readonly statements: readonly Store[] };

/** Statements beyond which a run asks for too many registers. */
const longest = 16;

/** The run that begins at a statement of a list, if more than that belongs to it. */
export function runAt(group: GroupContext, list: readonly Statement[], position: number): Run | null {
  const { lanes } = group;
  const assigns = whileOf(
    list,
    position,
    (statement, first): statement is Assign =>
      statement.kind === 'assign' &&
      lanes.varies(statement.variable) &&
      readsStrided(lanes, statement.value) &&
      vectorsOf(statement.value.type) === vectorsOf((first as Assign).value.type),
  );
  if (assigns.length > 1) return { kind: 'assigns', statements: assigns };
  const stores = whileOf(
    list,
    position,
    (statement, first): statement is Store =>
      statement.kind === 'store' &&
      lanes.shapeOf(statement) === 'strided' &&
      (statement === first || follows(group, first as Store, statement)),
  );
  return stores.length > 1 && isApart(group, stores) ? { kind: 'stores', statements: stores } : null;
}

function whileOf<T extends Statement>(
  list: readonly Statement[],
  position: number,
  belongs: (statement: Statement, first: Statement) => statement is T,
): T[] {
  const found: T[] = [];
  for (const statement of list.slice(position, position + longest)) {
    if (!belongs(statement, list[position]!)) break;
    found.push(statement);
  }
  return found;
}

function readsStrided(lanes: Lanes, value: Expression): boolean {
  return anyOperand(
    value,
    (each) => each.kind === 'load' && !lanes.isUniform(each) && lanes.shapeOf(each) === 'strided',
  );
}

/** Whether a store is to the same elements as one before it, and of a value that needs no memory. */
function follows({ lanes, locate }: GroupContext, first: Store, store: Store): boolean {
  if (vectorsOf(first.value.type) !== vectorsOf(store.value.type)) return false;
  if (anyOperand(store.value, (each) => each.kind === 'load' || (each.kind === 'binary' && mayFail(each))))
    return false;
  if (arrayKey(first.array) !== arrayKey(store.array) || lanes.strideOf(first) !== lanes.strideOf(store))
    return false;
  const [one, other] = [locate(first), locate(store)];
  if (one === null || other === null) return keyOf(first.index) === keyOf(store.index);
  return one.address === other.address;
}

/** Whether stores are to different parts, all of them less than a stride apart. */
function isApart({ lanes, locate, unit }: GroupContext, stores: readonly Store[]): boolean {
  const places = stores.map((store) => {
    const { offset } = locate(store) ?? { offset: 0 };
    return { begin: offset, end: offset + bytesOf(unit.elementOf(store.array)), part: store.component ?? 0 };
  });
  const parts = new Set(places.map(({ begin, part }) => `${begin} ${part}`));
  const extent = Math.max(...places.map(({ end }) => end)) - Math.min(...places.map(({ begin }) => begin));
  return parts.size === stores.length && extent <= lanes.strideOf(stores[0]!);
}
