// The text of what the cohorts of a rank group do: its variables, then segment after segment.

import type { Expression } from './ir.ts';
import type { CohortRegion, CohortWay, End, Head, Step } from './ir-cohorts.ts';
import { ExpressionPrinter, Names } from './print-expressions.ts';
import { printVariables, StatementPrinter } from './print-statements.ts';

/** The lines of a way. */
export function printCohorts({ ranks, program, segments }: CohortWay): string[] {
  const { first, stride, count } = ranks;
  const names = new Names(program);
  const distance = stride === 1 ? '' : `, every ${stride}`;
  const lines = [
    `cohort of ${count} threads from rank ${first}${distance}`,
    ...printVariables(program, names).map((line) => `  ${line}`),
    '',
  ];
  const printer = new SegmentPrinter(names, lines);
  segments.forEach(({ head, steps, end }, number) => {
    lines.push(`segment ${number}:`);
    if (head !== null) printer.head(head);
    for (const step of steps) printer.step(step);
    printer.end(end);
  });
  return lines;
}

class SegmentPrinter {
  readonly #names: Names;
  readonly #lines: string[];
  readonly #expressions: ExpressionPrinter;
  readonly #statements: StatementPrinter;

  constructor(names: Names, lines: string[]) {
    this.#names = names;
    this.#lines = lines;
    this.#expressions = new ExpressionPrinter(names);
    this.#statements = new StatementPrinter(names, this.#expressions, lines);
  }

  head({ wait, yieldedAt, live, loads }: Head): void {
    const found = loads.length === 0 ? '' : `, each thread loads ${this.#variables(loads)}`;
    if (wait !== null) this.#line(`wait for ${this.#statements.call(wait)}${found}`);
    if (yieldedAt !== undefined) this.#line('let others go on');
    if (live.length > 0) this.#line(`keep ${this.#variables(live)}`);
  }

  step(step: Step): void {
    switch (step.kind) {
      case 'region':
        this.#region(step.region);
        return;
      case 'once':
        this.#line('once {');
        this.#statements.printAll([step.statement], '    ');
        this.#line('}');
        return;
      default:
        this.#line(`${step.kind} ${this.#statements.call(step.call)}`);
    }
  }

  end(end: End): void {
    switch (end.kind) {
      case 'jump':
      case 'suspend':
      case 'yield':
        this.#line(`${end.kind} ${end.to}`);
        return;
      case 'branch':
        this.#line(`branch ${this.#print(end.test)}: ${end.then}, else ${end.otherwise}`);
        return;
      case 'split': {
        this.#region(end.by);
        const exits = end.exits.map(({ to, entry }, i) => `, ${i + 1}: ${to} by ${entry}`);
        this.#line(`split 0: ${end.next}${exits.join('')}`);
        return;
      }
      case 'finish':
        this.#line('finish');
        return;
      default:
        end satisfies never;
    }
  }

  #region({ body, loads, stores, gives, exits }: CohortRegion): void {
    const list = (what: string, ids: readonly number[]) =>
      ids.length === 0 ? '' : ` ${what} ${this.#variables(ids)}`;
    this.#line(`each thread${list('loads', loads)}${list('stores', stores)} {`);
    this.#statements.printAll(body, '    ');
    exits.forEach((jump, i) => {
      this.#line(`  exit ${i + 1}: ${jump.kind}${jump.kind === 'return' ? '' : ` L${jump.label}`}`);
    });
    if (gives?.kind === 'test') this.#line(`  exit 1 unless ${this.#print(gives.test)}`);
    this.#line('}');
  }

  #variables(ids: readonly number[]): string {
    return ids.map((id) => this.#names.variables[id]).join(', ');
  }

  #print(expression: Expression): string {
    return this.#expressions.print(expression);
  }

  #line(text: string): void {
    this.#lines.push(`  ${text}`);
  }
}
