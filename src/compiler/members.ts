// `object.member` and `object[index]`.

import type { MemberExpression, Node } from 'acorn';
import { formsOf, isIntrinsic, membersOf } from '../kernel/intrinsics.ts';
import { type Advice, nameAdvice, replacementAdvice } from './advice.ts';
import { ownObject, read } from './cells.ts';
import { withArray } from './each-array.ts';
import { barrierOf } from './intrinsics/barriers.ts';
import { useIntrinsic } from './intrinsics/table.ts';
import { elementOfList } from './lists.ts';
import type { Lowering } from './lowering.ts';
import { nearestName } from './nearest.ts';
import { knownNumber, toIndex } from './numbers.ts';
import { named } from './records.ts';
import { describe, isNumeric, literal, type Value } from './values.ts';
import { componentIndex, componentsOf, componentValue } from './vectors.ts';
import { loadElement } from './views.ts';
import { written } from './written.ts';

/** `object.name`. */
export function member(lowering: Lowering, object: Value, name: string, node: Node): Value {
  const receiver = receiverOf(object, name);
  if (receiver !== null) {
    const intrinsic = `${receiver}.${name}`;
    lowering.members.push({ receiver, name, range: lowering.range(node) });
    if (!isIntrinsic(intrinsic))
      return refuseName(lowering, ownerOf(receiver), name, membersOf(receiver), node, object);
    const instance = object.kind === 'namespace' ? null : receiver === 'tile' ? wholeTile(object) : object;
    if (formsOf(intrinsic) === null) return useIntrinsic(lowering, intrinsic, instance, [], node);
    return { kind: 'intrinsic', name: intrinsic, receiver: instance };
  }
  switch (object.kind) {
    case 'broken':
      return lowering.broken();
    case 'object': {
      const cell = object.cells?.get(name);
      if (cell !== undefined) return read(lowering, cell, node);
      const value = object.members.get(name);
      if (value !== undefined) return named(value);
      return refuseName(lowering, object.name, name, [...object.members.keys()], node);
    }
    case 'vector': {
      const component = componentIndex(object.type, name);
      if (component !== null) return componentValue(object, component);
      return refuseName(lowering, describe(object), name, componentsOf(object.type), node);
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
      : 'kernels have numbers, arrays, groups, pipelines and barriers',
  );
}

/** What the table calls the kind of a value that has intrinsics. */
function receiverOf(value: Value, member: string): string | null {
  switch (value.kind) {
    case 'namespace':
      return value.name;
    case 'group':
      return value.group.kind;
    case 'lanes':
      return value.tile !== undefined && !isIntrinsic(`coalesced.${member}`) ? 'tile' : 'coalesced';
    case 'subset':
    case 'pipeline':
    case 'barrier':
    case 'barriers':
      return value.kind;
    case 'view':
    case 'arrayChoice':
      return 'array';
    default:
      return null;
  }
}

/** What only tiles have, one of lanes has by its size and mask. */
function wholeTile(value: Value): Value {
  if (value.kind !== 'lanes' || value.tile === undefined) return value;
  const { size, ...of } = value.tile;
  return { kind: 'group', group: { kind: 'tile', size }, ...of, mask: value.mask };
}

function ownerOf(receiver: string): string {
  const owners: { readonly [receiver: string]: string } = {
    grid: 'a grid',
    block: 'a block',
    tile: 'a tile',
    thread: 'a thread',
    coalesced: 'a coalesced group',
    subset: 'a subset of a block',
    array: 'an array',
    pipeline: 'a pipeline',
    cg: "'cuda.cg'",
    barrier: 'a barrier',
    barriers: 'an array of barriers',
  };
  return owners[receiver] ?? `'${receiver}'`;
}

function refuseName(
  lowering: Lowering,
  owner: string,
  name: string,
  names: readonly string[],
  node: Node,
  object?: Value,
): never {
  return lowering.fail(
    node,
    'WS1003',
    `${owner} has no '${name}'`,
    nameHint(lowering, owner, name, names, node, object),
  );
}

/** What there is instead of a member that does not exist. */
function nameHint(
  lowering: Lowering,
  owner: string,
  name: string,
  names: readonly string[],
  node: Node,
  object: Value | undefined,
): Advice | string {
  const nearest = nearestName(name, names);
  if (nearest !== null) return nameAdvice(lowering, node, nearest);
  if (owner === 'an array') {
    const array = object?.kind === 'view' ? object.name : 'y';
    return `let each thread read and write elements: ${array}[i] = value`;
  }
  if (owner.startsWith('the data of') || owner === 'a row')
    return `add it to the schema: ${name}: 'f32', or the type that it has`;
  if (owner === "'Math'" && name === 'random') {
    return "make random numbers on the host, or compute them from the thread's rank";
  }
  return names.length > 16 ? 'docs/intrinsics.md lists what it has' : `it has ${names.join(', ')}`;
}

/** `object[index]`. */
export function element(lowering: Lowering, object: Value, index: Value, node: Node, indexNode: Node): Value {
  if (index.kind === 'text') return member(lowering, object, index.text, node);
  switch (object.kind) {
    case 'view':
    case 'arrayChoice': {
      const name = object.kind === 'view' ? `'${object.name}'` : describe(object);
      const at = toIndex(lowering, index, indexNode, `an index of ${name}`);
      return withArray(lowering, object, node, (view) => {
        const value = loadElement(lowering, view, at, node);
        return value.kind === 'object' ? ownObject(lowering, value, node) : value;
      });
    }
    case 'list': {
      const known = knownNumber(lowering, index);
      if (known === null) return elementOfList(lowering, object, index, node, indexNode);
      const item = object.items[known];
      if (item !== undefined) return named(item);
      return lowering.fail(
        indexNode,
        'WS1009',
        `a list of ${object.items.length} has no element ${known}`,
        'its elements are counted from 0',
      );
    }
    case 'barriers':
      return barrierOf(
        lowering,
        object,
        toIndex(lowering, index, indexNode, `an index of '${object.name}'`),
        indexNode,
      );
    case 'broken':
      return lowering.broken();
    default:
      return refuseElements(lowering, object, node);
  }
}

/** The error of `object[…]` where the object has no elements. */
export function refuseElements(lowering: Lowering, object: Value, node: Node): never {
  return lowering.fail(
    node,
    'WS1006',
    `${describe(object)} has no elements`,
    object.kind === 'vector'
      ? 'its components have names: .x, .y'
      : isNumeric(object)
        ? asShape(lowering, node)
        : 'arrays of the schema, shared and local arrays have',
  );
}

/** Of `a[y][x]` where `a` has one dimension, a shape of two; a number by itself has no more than its value. */
function asShape(lowering: Lowering, node: Node): Advice | string {
  const { object } = node as Partial<MemberExpression>;
  if (object === undefined) return 'arrays of the schema, shared and local arrays have';
  const isElement = object.type === 'MemberExpression' && object.computed;
  if (isElement) return `give it a shape: ${written(lowering, object.object)}.shaped([rows, columns])`;
  return replacementAdvice(lowering, node, written(lowering, object));
}
