// The operands of the IR: which fields of an expression, statement or call are expressions.
//
// Said here once, in the order in which they are evaluated: walkers and rewriters ask here. A field may
// be left out, be null, be a view, whose offset counts, or be a list, of which the texts do not count.
// TypeScript refuses a table that lacks an operand.

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

/** Each operand by its name. */
type Operands<Node> = { readonly [K in OperandName<Node>]: true };

const ofExpression = {
  constant: {},
  variable: {},
  scalar: {},
  builtin: {},
  length: {},
  load: { index: true },
  unary: { operand: true },
  binary: { left: true, right: true },
  compare: { left: true, right: true },
  convert: { operand: true },
  conditional: { test: true, then: true, otherwise: true },
  math: { operands: true },
} satisfies { [K in Expression['kind']]: Operands<Extract<Expression, { kind: K }>> };

const ofStatement = {
  assign: { value: true },
  store: { index: true, value: true },
  if: { test: true },
  loop: { test: true },
  block: {},
  break: {},
  continue: {},
  return: {},
  region: {},
} satisfies {
  [K in Exclude<Statement['kind'], 'call'>]: Operands<Extract<Statement, { kind: K }>>;
};

const ofCall = {
  sync: { mask: true },
  warp: { mask: true, value: true, lane: true },
  makePipeline: { producers: true },
  producerAcquire: {},
  producerCommit: {},
  consumerWait: {},
  consumerWaitPrior: {},
  consumerWaitFor: { time: true },
  consumerWaitUntil: { time: true },
  consumerRelease: {},
  quit: {},
  makeBarrier: { expected: true },
  barrierArrive: { index: true, count: true },
  barrierComplete: { index: true },
  barrierWait: { index: true, phase: true, limit: true },
  barrierBind: { index: true },
  memcpyAsync: { destination: true, source: true, count: true, zeroFill: true, index: true },
  atomic: { index: true, compare: true, value: true },
  globaltimer: {},
  clock64: {},
  nanosleep: { duration: true },
  mark: { made: true, batch: true },
  print: { parts: true },
} satisfies { [I in Exclude<Call['intrinsic'], 'core'>]: Operands<Extract<Call, { intrinsic: I }>> };

const ofCore = {
  mbarrierInit: { index: true, expected: true },
  mbarrierInvalidate: { index: true },
  mbarrierArrive: { index: true, count: true, bytes: true },
  mbarrierExpect: { index: true, bytes: true },
  mbarrierArriveAfterCopies: { index: true },
  mbarrierWait: { index: true, awaited: true, phase: true, limit: true },
  mbarrierComplete: { index: true },
  copyChunks: { destination: true, source: true, count: true, zeroFill: true },
  copyCommit: {},
  copyWait: { allBut: true },
  copyWaitAll: {},
  copyCheck: { destination: true, source: true, count: true, zeroFill: true },
  copyElements: { destination: true, source: true, count: true },
  prefetch: { source: true, count: true },
  bulkCopy: { index: true, destination: true, source: true, count: true },
  bulkStore: { destination: true, source: true, count: true },
  bulkCommit: {},
  bulkWait: { allBut: true },
  proxyFence: {},
  fence: {},
  namedBarrier: { id: true },
  groupCount: { value: true },
  elect: {},
  copyNow: { destination: true, source: true, count: true, zeroFill: true },
  stuckAtStage: { stage: true },
  stuckAtBarrier: { at: true, phase: true },
  pipelineMisused: { state: true },
  barrierMisused: { at: true, first: true, second: true },
} satisfies { [K in CoreOperation['kind']]: Operands<Extract<CoreOperation, { kind: K }>> };

/** The names of each table's operands, by what they are operands of. */
function namesOf<T extends object>(table: T): { readonly [K in keyof T]: readonly string[] } {
  const names = Object.entries(table).map(([kind, operands]) => [kind, Object.keys(operands as object)]);
  return Object.fromEntries(names);
}

const expressionOperands = namesOf(ofExpression);
const statementOperands = namesOf(ofStatement);
const callOperands = namesOf(ofCall);
const coreOperands = namesOf(ofCore);

type Fields = Readonly<Record<string, Operand | null | undefined>>;

const isList = (operand: Operand): operand is readonly (Expression | string)[] => Array.isArray(operand);
const isView = (operand: Expression | View): operand is View => 'offset' in operand;

function read(node: object, names: readonly string[]): readonly Expression[] {
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
  names: readonly string[],
  map: (operand: Expression) => Expression,
): Node {
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
  return read(expression, expressionOperands[expression.kind]);
}

/** An expression with its operands replaced. */
export function mapOperands(expression: Expression, map: (operand: Expression) => Expression): Expression {
  return replaced(expression, expressionOperands[expression.kind], map);
}

/** The expressions that stand in a statement itself, not in statements inside it. */
export function expressionsOf(statement: Statement): readonly Expression[] {
  if (statement.kind !== 'call') return read(statement, statementOperands[statement.kind]);
  if (statement.intrinsic !== 'core') return read(statement, callOperands[statement.intrinsic]);
  return read(statement.operation, coreOperands[statement.operation.kind]);
}

/** A statement with the expressions that stand in it itself replaced. */
export function mapExpressions(statement: Statement, map: (operand: Expression) => Expression): Statement {
  if (statement.kind !== 'call') return replaced(statement, statementOperands[statement.kind], map);
  if (statement.intrinsic !== 'core') return replaced(statement, callOperands[statement.intrinsic], map);
  const { operation } = statement;
  return { ...statement, operation: replaced(operation, coreOperands[operation.kind], map) };
}
