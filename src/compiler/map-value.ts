// The value with each expression in it replaced.

import type { Expression } from './ir.ts';
import type { EitherValue, LanesValue, LiteralValue, Value, ViewValue } from './values.ts';

/** The value with each expression in it replaced. */
export function mapExpressions(value: Value, change: (expression: Expression) => Expression): Value {
  switch (value.kind) {
    case 'number':
      return { ...value, expression: change(value.expression) };
    case 'either':
      return mapEither(value, change);
    case 'quotient':
      return { ...value, left: change(value.left), right: change(value.right) };
    case 'vector':
      return { ...value, components: value.components.map(change) };
    case 'view':
      return mapView(value, change);
    case 'arrayChoice':
      return {
        ...value,
        code: change(value.code),
        options: value.options.map((option) => mapView(option, change)),
      };
    case 'choice':
      return { ...value, code: change(value.code) };
    case 'lanes':
      return { ...value, mask: change(value.mask), ...mapTile(value.tile, change) };
    case 'subset':
      return {
        ...value,
        masks: value.masks.map(change),
        half: change(value.half),
        rank: change(value.rank),
        size: change(value.size),
        base: change(value.base),
      };
    case 'barrier':
      return { ...value, index: change(value.index) };
    case 'token':
      return { ...value, phase: change(value.phase) };
    case 'count':
      return { ...value, count: change(value.count) };
    case 'template':
      return { ...value, parts: value.parts.map((part) => mapExpressions(part, change)) };
    case 'list':
      return { ...value, items: value.items.map((item) => mapExpressions(item, change)) };
    case 'object': {
      // A name of a changing object means what its members are then.
      if (value.cells !== undefined) return value;
      const members = [...value.members].map(
        ([name, member]) => [name, mapExpressions(member, change)] as const,
      );
      return { ...value, members: new Map(members) };
    }
    default:
      return value;
  }
}

function mapTile(
  tile: LanesValue['tile'],
  change: (expression: Expression) => Expression,
): Pick<LanesValue, 'tile'> {
  if (tile?.partitioned === undefined) return tile === undefined ? {} : { tile };
  return { tile: { ...tile, partitioned: change(tile.partitioned) } };
}

function mapView(view: ViewValue, change: (expression: Expression) => Expression): ViewValue {
  const { offset, length, dimensions, bounds } = view;
  return {
    ...view,
    offset: change(offset),
    length: length === null ? null : change(length),
    ...(dimensions === undefined
      ? {}
      : {
          dimensions: dimensions.map(({ extent, pitch }) => ({
            extent: change(extent),
            pitch: change(pitch),
          })),
        }),
    ...(bounds === undefined ? {} : { bounds: bounds.map(change) }),
  };
}

function mapEither(
  value: LiteralValue | EitherValue,
  change: (expression: Expression) => Expression,
): LiteralValue | EitherValue {
  if (value.kind === 'literal') return value;
  return {
    kind: 'either',
    test: change(value.test),
    then: mapEither(value.then, change),
    otherwise: mapEither(value.otherwise, change),
  };
}
