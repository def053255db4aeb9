// The program of producers and consumers whose loops are one (zip.ts).

import type { Expression, Program, Statement, ValueType } from '../../../compiler/ir.ts';
import type { OfRankGroup, RankGroup } from '../../../compiler/ir-cohorts.ts';
import type { Range } from '../../../diagnostics/source.ts';
import type { Loop } from '../../analysis/counters.ts';
import { isSame } from '../../analysis/expression-key.ts';
import { canFail } from '../../analysis/failing.ts';
import { mapExpression, mapStatements } from '../../analysis/map.ts';
import { anyStatement, assignedIn, forEachStatement } from '../../analysis/walk.ts';
import { withoutDead } from '../parts.ts';
import { Words } from '../words.ts';

/** Threads of one role, and what each of them does: a thread knows its place among them as its rank. */
export interface Role {
  readonly ranks: RankGroup;
  readonly body: readonly Statement[];
}

/** What a role does from the first to the last of its verbs, of which nothing is left. */
export interface Way {
  readonly before: readonly Statement[];
  readonly loop: Loop;
  readonly after: readonly Statement[];
  /** What the loop counts, and from which number. */
  readonly counter: number;
  readonly type: ValueType;
  readonly start: number;
}

export interface Zip {
  /** Where the verbs are, among the statements of the program. */
  readonly position: number;
  /** Variables with one value for the block, that only the block's own statements assign. */
  readonly shared: ReadonlySet<number>;
  /** Producers, then consumers. */
  readonly roles: readonly [Role, Role];
  readonly ways: readonly [Way, Way];
}

/** The program with one loop for both; null where their loops do not count alike. */
export function writeZipped(program: Program, { position, shared, roles, ways }: Zip): Program | null {
  const threads = Math.max(...roles.map(({ ranks }) => ranks.count));
  const writers = roles.map(
    ({ ranks }, role) => new RoleWriter(program, shared, { ranks, threads, isSecond: role === 1 }),
  ) as [RoleWriter, RoleWriter];
  const loop = zippedLoop(ways, writers);
  if (loop === null) return null;
  const list: Statement[] = [];
  let own: [Statement[], Statement[]] = [[], []];
  const add = (statementsOf: (role: 0 | 1) => readonly Statement[]) => {
    for (const role of [0, 1] as const) own[role].push(...writers[role].write(statementsOf(role)));
  };
  const meet = (...statements: readonly Statement[]) => {
    list.push(...inTurn(own, writers), ...statements);
    own = [[], []];
  };
  program.body.forEach((statement, at) => {
    const isSync = statement.kind === 'call' && statement.intrinsic === 'sync';
    if (at === position) {
      add((role) => ways[role].before);
      meet(loop);
      add((role) => ways[role].after);
    } else if (isSync || isOfBlock(statement, shared)) meet(statement);
    else if (statement.kind !== 'call') add((role) => [roles[role].body[at]!]);
  });
  meet();
  return {
    ...program,
    block: [threads, 1, 1],
    variables: [...program.variables, ...program.variables],
    pipelines: [],
    body: withoutDead(list, { keepsFaults: true }),
  };
}

/** Whether a statement gives values to nothing but what threads share, of which there must be something. */
function isOfBlock(statement: Statement, shared: ReadonlySet<number>): boolean {
  if (anyStatement([statement], ({ kind }) => kind === 'store' || kind === 'call')) return false;
  const assigned = [...assignedIn([statement])];
  return assigned.length > 0 && assigned.every((id) => shared.has(id));
}

/** The loop of producers with what consumers do at the end of each turn. */
function zippedLoop(
  [producing, consuming]: readonly [Way, Way],
  writers: [RoleWriter, RoleWriter],
): Loop | null {
  if (producing.start !== consuming.start || producing.type !== consuming.type) return null;
  const [loop, other] = [writers[0].write([producing.loop]), writers[1].write([consuming.loop])].map(
    ([each]) => each as Loop,
  ) as [Loop, Loop];
  const { counter } = producing;
  const counted = writers[1].variable(consuming.counter);
  const asOne = (expression: Expression): Expression =>
    expression.kind === 'variable' && expression.id === counted ? { ...expression, id: counter } : expression;
  if (!isSame(loop.test!, mapExpression(other.test!, { expression: asOne }))) return null;
  return { ...loop, body: inTurn([loop.body, mapStatements(other.body, { expression: asOne })], writers) };
}

/** What producers do, then what consumers do: where one of them may have done something that others see or that ends it, they meet. */
function inTurn(
  [first, second]: readonly (readonly Statement[])[],
  [one, other]: readonly RoleWriter[],
): readonly Statement[] {
  const parts = [one!.guarded(first!), other!.guarded(second!)] as const;
  const [last] = parts[0].filter((each) => !isSilent(each)).slice(-1);
  if (last === undefined || parts[1].every(isSilent)) return parts.flat();
  const meeting = new Words(last.range, one!.indexType).sync({ kind: 'block' });
  return [...parts[0], meeting, ...parts[1]];
}

/** Whether a statement only gives a variable a value, and cannot fail. */
function isSilent(statement: Statement): boolean {
  return statement.kind === 'assign' && !canFail(statement);
}

/** Writes statements of a role for the threads of the program of both. */
class RoleWriter {
  readonly indexType: Program['indexType'];
  readonly #ranks: RankGroup;
  readonly #isAll: boolean;
  readonly #variables: number;
  readonly #labels: number;
  readonly #shared: ReadonlySet<number>;

  constructor(
    { indexType, variables, body }: Program,
    shared: ReadonlySet<number>,
    { ranks, threads, isSecond }: { ranks: RankGroup; threads: number; isSecond: boolean },
  ) {
    let labels = 0;
    forEachStatement(body, (each) => {
      if (each.kind === 'loop' || each.kind === 'block') labels = Math.max(labels, each.label + 1);
    });
    this.indexType = indexType;
    this.#ranks = ranks;
    this.#isAll = ranks.count === threads;
    this.#variables = isSecond ? variables.length : 0;
    this.#labels = isSecond ? labels : 0;
    this.#shared = shared;
  }

  /** The number that one of the role's own variables has there. */
  variable(id: number): number {
    return this.#shared.has(id) ? id : id + this.#variables;
  }

  write(statements: readonly Statement[]): readonly Statement[] {
    return mapStatements(statements, {
      expression: (each) => {
        const mine = { ...each, range: this.#of(each.range) };
        return mine.kind === 'variable' ? { ...mine, id: this.variable(mine.id) } : mine;
      },
      statement: (each) => this.#statement({ ...each, range: this.#of(each.range) }),
    });
  }

  #statement(each: Statement): Statement {
    if (each.kind === 'assign') return { ...each, variable: this.variable(each.variable) };
    if ('label' in each) return { ...each, label: each.label + this.#labels };
    if (each.kind !== 'call' || each.intrinsic !== 'memcpyAsync') return each;
    return new Words(each.range, this.indexType).copyNow(each);
  }

  #of(range: Range): OfRankGroup {
    return { ...range, rankGroup: this.#ranks };
  }

  /** Statements that only the role's threads do, where there are others: no value of its variables is asked for by them. */
  guarded(statements: readonly Statement[]): readonly Statement[] {
    if (this.#isAll) return statements;
    const list: Statement[] = [];
    let own: Statement[] = [];
    const flush = () => {
      const [first] = own;
      if (first === undefined) return;
      const words = new Words(first.range, this.indexType);
      const isMember = words.compare('less', words.threadRank, words.index(this.#ranks.count));
      list.push(words.when(isMember, own));
      own = [];
    };
    for (const each of statements) {
      if (isSilent(each) || isMark(each)) {
        flush();
        list.push(each);
      } else own.push(each);
    }
    flush();
    return list;
  }
}

/** Whether a statement marks a point for a recording of stages. The threads of a role do it as one. */
function isMark(statement: Statement): boolean {
  return statement.kind === 'call' && statement.intrinsic === 'mark';
}
