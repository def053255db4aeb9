// `object.member` and `object[index]`.

import type { Node } from 'acorn';
import { isIntrinsic, membersOf } from '../kernel/intrinsics.ts';
import { formsOf, useIntrinsic } from './intrinsics/table.ts';
import { elementOfList } from './lists.ts';
import type { Lowering } from './lowering.ts';
import { nearestName } from './nearest.ts';
import { knownNumber, toIndex } from './numbers.ts';
import { describe, isNumeric, literal, type Value } from './values.ts';
import { loadElement } from './views.ts';

/** `object.name`. */
export function member(lowering: Lowering, object: Value, name: string, node: Node): Value {
  const receiver = receiverOf(object);
  if (receiver !== null) {
    const intrinsic = `${receiver}.${name}`;
    if (!isIntrinsic(intrinsic)) return refuseName(lowering, receiver, name, membersOf(receiver), node);
    const instance = object.kind === 'namespace' ? null : object;
    if (formsOf(intrinsic) === undefined) return useIntrinsic(lowering, intrinsic, instance, [], node);
    return { kind: 'intrinsic', name: intrinsic, receiver: instance };
  }
  switch (object.kind) {
    case 'broken':
      return lowering.broken();
    case 'object': {
      const value = object.members.get(name);
      if (value !== undefined) return value;
      return refuseName(lowering, object.name, name, [...object.members.keys()], node);
    }
    case 'list':
      if (name === 'length') return literal(object.items.length);
      break;
  }
  return lowering.fail(
    node,
    'WS1003',
    `${describe(object)} has no member '${name}'`,
    isNumeric(object)
      ? 'numbers have operators and Math.*'
      : 'kernels have numbers, arrays, groups and pipelines',
  );
}

/** What the table calls the kind of a value that has intrinsics. */
function receiverOf(value: Value): string | null {
  switch (value.kind) {
    case 'namespace':
      return value.name;
    case 'group':
      return value.group.kind;
    case 'pipeline':
      return 'pipeline';
    case 'view':
      return 'array';
    default:
      return null;
  }
}

function refuseName(
  lowering: Lowering,
  receiver: string,
  name: string,
  names: readonly string[],
  node: Node,
): never {
  const nearest = nearestName(name, names);
  const owner = {
    grid: 'a grid',
    block: 'a block',
    tile: 'a tile',
    thread: 'a thread',
    array: 'an array',
    pipeline: 'a pipeline',
  };
  return lowering.fail(
    node,
    'WS1003',
    `${owner[receiver as keyof typeof owner] ?? `'${receiver}'`} has no '${name}'`,
    nearest !== null
      ? `did you mean '${nearest}'?`
      : `it has ${names.slice(0, 16).join(', ')}${names.length > 16 ? ', …' : ''}`,
  );
}

/** `object[index]`. */
export function element(lowering: Lowering, object: Value, index: Value, node: Node, indexNode: Node): Value {
  if (index.kind === 'text') return member(lowering, object, index.text, node);
  switch (object.kind) {
    case 'view':
      return loadElement(
        lowering,
        object,
        toIndex(lowering, index, indexNode, `an index of '${object.name}'`),
        node,
      );
    case 'list': {
      const known = knownNumber(lowering, index);
      if (known === null) return elementOfList(lowering, object, index, node, indexNode);
      const item = object.items[known];
      if (item !== undefined) return item;
      return lowering.fail(
        indexNode,
        'WS1009',
        `a list of ${object.items.length} has no element ${known}`,
        'its elements are counted from 0',
      );
    }
    case 'broken':
      return lowering.broken();
    default:
      return lowering.fail(
        node,
        'WS1006',
        `${describe(object)} has no elements`,
        'only arrays and lists have',
      );
  }
}
