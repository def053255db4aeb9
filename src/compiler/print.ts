// The text of a program: what the compiler understood, for people and for golden tests.
//
// The text is stable: it depends on nothing but the program. Every type can be read from it:
// declarations carry theirs, a literal says it by its form (1 is i32, 1u u32, 1n i64, 1un u64,
// 1f f32, 1.0 f64), and a conversion is written as a call of the type.

import type { Program } from './ir.ts';
import { printCohorts } from './print-cohorts.ts';
import { ExpressionPrinter, Names } from './print-expressions.ts';
import { printGroup, printVariables, StatementPrinter } from './print-statements.ts';

/** The program as text, one statement a line. */
export function printProgram(program: Program): string {
  const names = new Names(program);
  const expressions = new ExpressionPrinter(names);
  const level = program.level === undefined ? '' : `, run by the ${program.level}`;
  const lines = [
    `kernel ${program.name} block ${program.block.join('x')} index ${program.indexType}${level}`,
  ];
  program.parameters.forEach((parameter, id) => {
    const type =
      parameter.kind === 'array'
        ? `${parameter.readonly ? 'readonly ' : ''}${parameter.element}[]`
        : parameter.type;
    lines.push(`parameter ${names.parameters[id]}: ${type}`);
  });
  program.sharedArrays.forEach((array, id) => {
    lines.push(`shared ${names.shared[id]}: ${array.element}[${expressions.print(array.count)}]`);
  });
  program.localArrays.forEach((array, id) => {
    lines.push(`local ${names.local[id]}: ${array.element}[${array.count}]`);
  });
  program.pipelines.forEach((pipeline, id) => {
    const stages = pipeline.scope !== 'thread' ? `, ${pipeline.stages} stages, ${pipeline.partition}` : '';
    lines.push(
      `pipeline ${names.pipelines[id]}: ${pipeline.scope} scope${stages}, group ${printGroup(pipeline.group)}`,
    );
  });
  program.barriers.forEach(({ count, group, completes }, id) => {
    const many = count === null ? '' : `[${count}]`;
    lines.push(
      `barrier ${names.barriers[id]}${many}: group ${printGroup(group)}${completes ? ', completes' : ''}`,
    );
  });
  program.mbarriers?.forEach(({ count }, id) => {
    lines.push(`mbarrier ${names.mbarriers[id]}[${count}]`);
  });
  // A way of cohorts has variables of its own.
  if (program.cohorts === undefined) lines.push(...printVariables(program, names));
  lines.push('');
  if (program.cohorts === undefined)
    new StatementPrinter(names, expressions, lines).printAll(program.body, '');
  else for (const way of program.cohorts) lines.push(...printCohorts(way));
  return `${lines.join('\n')}\n`;
}
