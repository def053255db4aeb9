// The operands of the IR: which fields of an expression, statement or call are expressions.
//
// Said here once, in the order in which they are evaluated: walkers and rewriters ask here. A field may
// be left out, be null, be a view, whose offset counts, or be a list, of which the texts do not count. What has
// no operand is not listed. TypeScript refuses a table that lacks an operand.

import type { Call, Expression, Statement, View } from './ir.ts';
import type { CoreOperation } from './ir-core.ts';

type Operand = Expression | View | readonly (Expression | string)[];

type OperandName<Node> = Node extends unknown
  ? {
      [K in keyof Node]-?: [NonNullable<Node[K]>] extends [never]
        ? never
        : NonNullable<Node[K]> extends Operand
          ? Node[K] extends readonly Statement[]
            ? never
            : K
          : never;
    }[keyof Node]
  : never;

/** The nodes of a kind. */
type OfKind<Node, Tag extends keyof Node, K> = Node extends unknown
  ? K extends Node[Tag]
    ? Node
    : never
  : never;

/** Each operand by its name, of each kind of node that has any. */
type Operands<Node, Tag extends keyof Node> = {
  readonly [K in Node[Tag] & string as [OperandName<OfKind<Node, Tag, K>>] extends [never] ? never : K]: {
    readonly [Name in OperandName<OfKind<Node, Tag, K>>]: true;
  };
};

const ofExpression = {
  load: { index: true, bounds: true },
  unary: { operand: true },
  binary: { left: true, right: true },
  compare: { left: true, right: true },
  convert: { operand: true },
  conditional: { test: true, then: true, otherwise: true },
  math: { operands: true },
} satisfies Operands<Expression, 'kind'>;

const ofStatement = {
  assign: { value: true },
  store: { index: true, bounds: true, value: true },
  if: { test: true },
  loop: { test: true },
} satisfies Operands<Exclude<Statement, Call>, 'kind'>;

const ofCall = {
  sync: { mask: true },
  warp: { mask: true, value: true, lane: true },
  makePipeline: { producers: true, masks: true, half: true, agreed: true },
  consumerWait: { limit: true },
  makeBarrier: { expected: true, masks: true, half: true, agreed: true },
  barrierArrive: { index: true, count: true },
  barrierComplete: { index: true },
  barrierWait: { index: true, phase: true, limit: true },
  barrierBind: { index: true },
  memcpyAsync: { destination: true, source: true, count: true, zeroFill: true, index: true },
  atomic: { index: true, compare: true, value: true },
  nanosleep: { duration: true },
  mark: { made: true, batch: true },
  print: { parts: true },
  assert: { test: true, parts: true },
} satisfies Operands<Exclude<Call, { intrinsic: 'core' }>, 'intrinsic'>;

const ofCore = {
  mbarrierInit: { index: true, instance: true, expected: true },
  mbarrierInvalidate: { index: true, instance: true },
  mbarrierArrive: { index: true, instance: true, count: true, bytes: true },
  mbarrierExpect: { index: true, instance: true, bytes: true },
  mbarrierArriveAfterCopies: { index: true, instance: true },
  mbarrierWait: { index: true, instance: true, awaited: true, phase: true, limit: true },
  mbarrierComplete: { index: true, instance: true },
  copyChunks: { destination: true, source: true, count: true, zeroFill: true },
  copyWait: { allBut: true },
  copyCheck: { destination: true, source: true, count: true, zeroFill: true },
  copyElements: { destination: true, source: true, count: true },
  prefetch: { source: true, count: true },
  bulkCopy: { index: true, instance: true, destination: true, source: true, count: true },
  bulkStore: { destination: true, source: true, count: true },
  bulkWait: { allBut: true },
  namedBarrier: { id: true },
  groupCount: { value: true },
  post: { index: true, by: true, phase: true },
  waitUntil: {
    index: true,
    test: true,
    phase: true,
    place: true,
    arrived: true,
    expected: true,
    left: true,
  },
  countsDiffer: { index: true, threads: true },
  oneSided: { producers: true, threads: true },
  copyNow: { destination: true, source: true, count: true, zeroFill: true },
  stuckAtStage: { stage: true },
  stuckAtBarrier: { at: true, phase: true },
  pipelineMisused: { state: true },
  barrierMisused: { at: true, first: true, second: true },
} satisfies Operands<CoreOperation, 'kind'>;

type Names = ReadonlyMap<string, readonly string[]>;

/** The names of each table's operands, by what they are operands of. */
function namesOf(table: object): Names {
  return new Map(Object.entries(table).map(([kind, operands]) => [kind, Object.keys(operands as object)]));
}

const expressionOperands = namesOf(ofExpression);
const statementOperands = namesOf(ofStatement);
const callOperands = namesOf(ofCall);
const coreOperands = namesOf(ofCore);

type Fields = Readonly<Record<string, Operand | null | undefined>>;

const isList = (operand: Operand): operand is readonly (Expression | string)[] => Array.isArray(operand);
const isView = (operand: Expression | View): operand is View => 'offset' in operand;

function read(node: object, table: Names, kind: string): readonly Expression[] {
  const names = table.get(kind);
  if (names === undefined) return [];
  const found: Expression[] = [];
  for (const name of names) {
    const operand = (node as Fields)[name];
    if (operand === null || operand === undefined) continue;
    if (isList(operand)) found.push(...operand.filter((each) => typeof each !== 'string'));
    else found.push(isView(operand) ? operand.offset : operand);
  }
  return found;
}

/** The node itself where it has no operand. */
function replaced<Node extends object>(
  node: Node,
  table: Names,
  kind: string,
  map: (operand: Expression) => Expression,
): Node {
  const names = table.get(kind);
  if (names === undefined) return node;
  const changed: Record<string, Operand> = {};
  let has = false;
  for (const name of names) {
    const operand = (node as Fields)[name];
    if (operand === null || operand === undefined) continue;
    has = true;
    if (isList(operand)) changed[name] = operand.map((each) => (typeof each === 'string' ? each : map(each)));
    else changed[name] = isView(operand) ? { ...operand, offset: map(operand.offset) } : map(operand);
  }
  return has ? { ...node, ...changed } : node;
}

/** The expressions that an expression is made of. */
export function operandsOf(expression: Expression): readonly Expression[] {
  return read(expression, expressionOperands, expression.kind);
}

/** An expression with its operands replaced. */
export function mapOperands(expression: Expression, map: (operand: Expression) => Expression): Expression {
  return replaced(expression, expressionOperands, expression.kind, map);
}

/** The expressions that stand in a statement itself, not in statements inside it. */
export function expressionsOf(statement: Statement): readonly Expression[] {
  if (statement.kind !== 'call') return read(statement, statementOperands, statement.kind);
  if (statement.intrinsic !== 'core') return read(statement, callOperands, statement.intrinsic);
  return read(statement.operation, coreOperands, statement.operation.kind);
}

/** A statement with the expressions that stand in it itself replaced. */
export function mapExpressions(statement: Statement, map: (operand: Expression) => Expression): Statement {
  if (statement.kind !== 'call') return replaced(statement, statementOperands, statement.kind, map);
  if (statement.intrinsic !== 'core') return replaced(statement, callOperands, statement.intrinsic, map);
  const { operation } = statement;
  return { ...statement, operation: replaced(operation, coreOperands, operation.kind, map) };
}
