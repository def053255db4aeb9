// Programs that print what their expressions give, and where: the interpreter's word on what is known of them.

import type { Expression, Program, Statement } from '#warpstage/compiler/ir.js';
import { anyStatement, expressionsOf, forEachOperand } from '#warpstage/targets/analysis/walk.js';

/** A statement of the program whose own expressions are printed before it is carried out. */
export interface Probe {
  readonly number: number;
  /** The list inside the statement that begins here, which the line names without values; null before the statement. */
  readonly list: readonly Statement[] | null;
  readonly statement: Statement;
  readonly expressions: readonly Expression[];
}

/** What one thread found at a probe. */
export interface Found {
  readonly probe: Probe;
  readonly block: number;
  readonly rank: number;
  /** By the probe's expressions, as text. */
  readonly values: readonly string[];
}

/**
 * The program with a line for every time that a thread comes to a statement. What is outside of regions, in a program
 * that has them, is done by the block and not by threads. With `ways`, every way has lines: also where a list begins,
 * and at statements without expressions.
 */
export function withProbes(
  program: Program,
  { ways = false } = {},
): {
  readonly program: Program;
  readonly probes: readonly Probe[];
} {
  const probes: Probe[] = [];
  let byThreads = !anyStatement(program.body, ({ kind }) => kind === 'region');
  const probe = (statement: Statement, inside: readonly Statement[] | null = null): Statement[] => {
    const expressions = inside === null ? expressionsOf(statement).flatMap(harmless) : [];
    if (!byThreads || (expressions.length === 0 && !ways)) return [];
    const { range } = statement;
    const builtin = (name: 'blockIdx.x' | 'threadRank'): Expression => {
      return { kind: 'builtin', name, type: program.indexType, range };
    };
    const number = probes.length;
    probes.push({ number, list: inside, statement, expressions });
    const parts = [`${number} `, builtin('blockIdx.x'), ' ', builtin('threadRank')];
    return [
      {
        kind: 'call',
        intrinsic: 'print',
        parts: [...parts, ...expressions.flatMap((each) => [' ', each])],
        range,
      },
    ];
  };
  const list = (statements: readonly Statement[], of?: Statement): Statement[] => [
    ...(ways && of !== undefined ? probe(of, statements) : []),
    ...statements.flatMap(withProbe),
  ];
  const withProbe = (statement: Statement): Statement[] => {
    switch (statement.kind) {
      case 'if': {
        const before = probe(statement);
        const then = list(statement.then, statement);
        return [...before, { ...statement, then, otherwise: list(statement.otherwise, statement) }];
      }
      case 'loop': {
        // The test of a loop is evaluated before the first turn, if then, and after every update.
        const test = probe(statement);
        const again = test.map((one) => ({ ...one }));
        const body = list(statement.body, statement);
        const inside = { ...statement, body, update: [...list(statement.update, statement), ...again] };
        return statement.testFirst ? [...test, inside] : [inside];
      }
      case 'block':
        return [...(ways ? probe(statement) : []), { ...statement, body: list(statement.body, statement) }];
      case 'region': {
        byThreads = true;
        const body = list(statement.body);
        byThreads = false;
        return [{ ...statement, body }];
      }
      default:
        return [...probe(statement), statement];
    }
  };
  return { program: { ...program, body: list(program.body) }, probes };
}

/** An expression and the parts of it that may be evaluated at any time: they read no memory and cannot fail. */
function harmless(expression: Expression): Expression[] {
  const found: Expression[] = [];
  forEachOperand(expression, (each) => {
    let harms = each.kind === 'constant';
    forEachOperand(each, (part) => {
      const divides = part.kind === 'binary' && /divide|remainder/.test(part.operator);
      harms ||= part.kind === 'load' || (divides && part.right.kind !== 'constant');
    });
    if (!harms) found.push(each);
  });
  return found;
}

/** A printed line, read. */
export function foundIn(line: string, probes: readonly Probe[]): Found {
  const [number, block, rank, ...values] = line.split(' ');
  return { probe: probes[Number(number)]!, block: Number(block), rank: Number(rank), values };
}
