// Compiling kernels in tests: from their text, so that positions are those of the text.

import { kernel, WarpstageError } from 'warpstage';
import { printProgram } from '#warpstage/compiler/print.js';
import { type Specialisation, type Specialised, specialise } from '#warpstage/compiler/specialise.js';
import { verifyProgram } from '#warpstage/compiler/verify.js';
import type { Kernel } from '#warpstage/kernel/kernel.js';
import type { Schema } from '#warpstage/kernel/schema.js';
import { interpreter } from '../support/interpreter.ts';
import { type HostArray, runProgram } from '../support/run-program.ts';

export type Body = (data: never, cuda: never) => void;

/** The function that a text is. */
export function functionOf(text: string): Body {
  return new Function(`return (${text}\n)`)() as Body;
}

export function kernelOf(schema: Schema, body: Body | string, name?: string): Kernel {
  const fn = typeof body === 'string' ? functionOf(body) : body;
  return kernel(schema, fn as () => void, name === undefined ? {} : { name });
}

/** Compiles a kernel, and sees to it that the program is a sound one. */
export function compile(one: Kernel, options: Partial<Specialisation> = {}): Specialised {
  const specialisation = {
    block: [64, 1, 1],
    indexType: 'i32',
    constants: {},
    functions: {},
    ...options,
  } as const;
  const specialised = specialise(one, specialisation);
  verifyProgram(specialised.program);
  return specialised;
}

/** The statements of the program as text, without the declarations. */
export function statementsOf(
  schema: Schema,
  body: Body | string,
  options: Partial<Specialisation> = {},
): string {
  const text = printProgram(compile(kernelOf(schema, body), options).program);
  return text.slice(text.indexOf('\n\n') + 2).trimEnd();
}

/** The types of the program's variables. */
export function variablesOf(schema: Schema, body: Body | string, options: Partial<Specialisation> = {}) {
  const { variables } = compile(kernelOf(schema, body), options).program;
  return Object.fromEntries(variables.map(({ name, type }) => [name, type]));
}

/** What is wrong with a kernel: `code line:column underlined: message (hint)`. */
export function mistakesIn(
  schema: Schema,
  text: string,
  options: Partial<Specialisation> = {},
): readonly string[] {
  try {
    compile(kernelOf(schema, text), options);
  } catch (error) {
    if (!(error instanceof WarpstageError)) throw error;
    return error.issues.map(({ code, message, hint, location }) => {
      const { line, column } = placeIn(text, location!);
      const whole = location!.text.split('\n')[location!.line - 1]!;
      const underlined = whole.slice(location!.column - 1, location!.column - 1 + location!.length);
      return `${code} ${line}:${column} ${underlined}: ${message} (${hint})`;
    });
  }
  return [];
}

/** A place in the file that `new Function` made is one line and one word further than in our text. */
function placeIn(text: string, location: { line: number; column: number; text: string }) {
  const { line, column } = location;
  if (!location.text.includes(text)) return { line, column };
  const head = location.text.slice(0, location.text.indexOf(text));
  const before = head.split('\n');
  const isFirst = line === before.length;
  return {
    line: line - before.length + 1,
    column: isFirst ? column - before.at(-1)!.length : column,
  };
}

export interface Run {
  readonly block?: number;
  readonly arguments: Readonly<Record<string, HostArray | number | boolean>>;
}

/** Runs a kernel on the interpreter, one block; the arrays of the arguments change. */
export function runCompiled(one: Kernel, { block = 1, arguments: args }: Run): readonly string[] {
  const { program } = compile(one, { block: [block, 1, 1] });
  const { fault, printed } = runProgram(interpreter(), program, { grid: 1, arguments: args });
  if (fault !== null) throw new Error(`the kernel faulted: ${JSON.stringify(fault)}`);
  return printed;
}
