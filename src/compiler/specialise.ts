// The front end from end to end: a kernel and what is known about its launch, to a Program.

import { WarpstageError } from '../diagnostics/error.ts';
import type { KernelSource } from '../diagnostics/source.ts';
import type { Kernel } from '../kernel/kernel.ts';
import { type KernelParameter, parseSchema, type ScalarValue, scalarProblem } from '../kernel/parameters.ts';
import type { DeviceFunction } from '../kernel/schema.ts';
import { type Dimensions, shapeNames } from '../kernel/shaped.ts';
import type { Extent3, ScalarType } from '../kernel/types.ts';
import { assignedName } from './assigned-name.ts';
import { binary, numberConstant } from './build.ts';
import { call } from './calls.ts';
import { refuseCaptures } from './captures.ts';
import { asDefect } from './defect.ts';
import { lowerCondition, lowerEffect, lowerValue } from './expressions.ts';
import { Inference } from './infer.ts';
import { type Expression, elementValueType, type Program, type ValueType } from './ir.ts';
import { Lowering } from './lowering.ts';
import { LoweringFailure, type Rules } from './lowering-rules.ts';
import { constantValue } from './narrow.ts';
import { computedType, fits, valueType } from './number-types.ts';
import { bindParameters } from './patterns.ts';
import { lowerStatement, resultOfKernel } from './statements.ts';
import { number, type Value, type ViewValue } from './values.ts';
import { componentsOf } from './vectors.ts';

/** What a program is made for. */
export interface Specialisation {
  readonly block: Extent3;
  readonly indexType: 'i32' | 'i64';
  /** Values of constants, by name; those with a default may be left out. */
  readonly constants: Readonly<Record<string, ScalarValue>>;
  /** The launch is cooperative: blocks may wait for each other. */
  readonly cooperative?: boolean;
  /** All blocks of the grid lie along x: the registers for the other axes, which are slow to read, are not asked. Default: no. */
  readonly flatGrid?: boolean;
  /** Device functions in place of those that the schema names. */
  readonly functions: Readonly<Record<string, DeviceFunction>>;
}

/** A program, and the texts that its ranges refer to. */
export interface Specialised {
  readonly program: Program;
  readonly sources: readonly KernelSource[];
  /** What the user's file calls a kernel that has no name of its own; null if that cannot be known. Asked for late. */
  readonly assignedName?: () => string | null;
}

const rules: Rules = {
  call,
  statement: lowerStatement,
  value: lowerValue,
  condition: lowerCondition,
  effect: lowerEffect,
};

/**
 * Compiles a kernel for one specialisation. `look` sees what was found, mistakes or not, before it is let go.
 *
 * @throws WarpstageError with all 1xxx issues that were found
 */
export function specialise(
  kernel: Kernel,
  specialisation: Specialisation,
  look?: (lowering: Lowering) => void,
): Specialised {
  const inference = new Inference();
  for (;;) {
    const { block, indexType, cooperative = false, flatGrid = false } = specialisation;
    const lowering = new Lowering({ block, indexType, cooperative, flatGrid, inference, rules });
    lowerKernel(lowering, kernel, specialisation);
    // The types that this pass was made with are final once it teaches nothing new.
    if (inference.solve()) continue;
    look?.(lowering);
    if (lowering.mistakes.any) throw new WarpstageError(lowering.mistakes.issues());
    const { minBlocks } = kernel.launchBounds ?? {};
    const program = {
      ...lowering.program(kernel.name),
      ...(kernel.fma ? { fma: true } : {}),
      ...(minBlocks === undefined ? {} : { minBlocks }),
    };
    return {
      program,
      sources: lowering.sources,
      assignedName: () => assignedName(kernel.body),
    };
  }
}

function lowerKernel(lowering: Lowering, kernel: Kernel, specialisation: Specialisation): void {
  const { parsed, source } = lowering.open(kernel.body, kernel.name);
  const { node } = parsed;
  try {
    refuseCaptures(lowering, parsed, source, kernel.schema);
    lowering.enter(parsed, source, () => {
      lowering.calls.push({ callee: node, name: kernel.name });
      bindParameters(lowering, node.params, kernelData(lowering, kernel, specialisation), kernel.schema);
      if (node.body.type === 'BlockStatement') lowering.statement(node.body);
      else resultOfKernel(lowering, node.body);
    });
  } catch (error) {
    if (error instanceof LoweringFailure) return;
    throw asDefect(error, { what: kernel.name, sources: lowering.sources });
  }
}

/** The kernel's first parameter. */
function kernelData(lowering: Lowering, { schema, name }: Kernel, given: Specialisation): Value {
  const members = new Map<string, Value>();
  for (const parameter of parseSchema(schema)) {
    members.set(parameter.name, parameterValue(lowering, parameter, given));
  }
  return { kind: 'object', name: `the data of '${name}'`, members };
}

function parameterValue(lowering: Lowering, parameter: KernelParameter, given: Specialisation): Value {
  const range = { source: 0, start: 0, end: 0 };
  const { name } = parameter;
  switch (parameter.kind) {
    case 'array': {
      const { element, readonly, dimensions } = parameter;
      const many = dimensions === undefined ? {} : { dimensions };
      const id = lowering.parameters.push({ kind: 'array', name, element, readonly, ...many }) - 1;
      return {
        ...(dimensions === undefined ? {} : shapeOf(lowering, name, dimensions)),
        kind: 'view',
        array: { space: 'global', id },
        name,
        element,
        readonly,
        inferred: null,
        offset: numberConstant(lowering.indexType, 0, range),
        length: null,
      };
    }
    case 'scalar': {
      const computed = computedType(parameter.type);
      const type = valueType(computed, lowering.indexType);
      return number(computed, scalarParameter(lowering, name, type, computed === 'index'));
    }
    case 'vector': {
      const component = elementValueType(parameter.type);
      const components = componentsOf(parameter.type).map((one) =>
        scalarParameter(lowering, `${name}.${one}`, component),
      );
      return { kind: 'vector', type: parameter.type, components };
    }
    case 'constant': {
      const value = given.constants[name] ?? parameter.default;
      const problem = value === undefined ? 'is not given' : scalarProblem(parameter.type, value);
      if (problem !== null) {
        throw new WarpstageError({
          code: 'WS1013',
          message: `the constant '${name}' ${problem}`,
          hint:
            value === undefined
              ? `pass it at the launch, or give it a default: ${name}: 'constant ${parameter.type} = …'`
              : `pass one like ${exampleOf(name, parameter.type)}`,
        });
      }
      if (parameter.type === 'index' && !fits(Number(value), 'index', lowering.indexType)) {
        throw new WarpstageError({
          code: 'WS1013',
          message: `the constant '${name}' is ${value}, which an index of 32 bits does not hold`,
          hint: 'compile the kernel with an index of 64 bits',
        });
      }
      return constantValue(lowering, parameter.type, value!, range);
    }
    case 'struct':
      return { kind: 'elementType', element: parameter.element };
    case 'function':
      return { kind: 'deviceFunction', function: given.functions[name] ?? parameter.function, name };
  }
}

/** A value of a type, as a program and a command write it. */
function exampleOf(name: string, type: ScalarType): string {
  const [value, text] =
    type === 'bool' ? ['true', 'true'] : type === 'i64' || type === 'u64' ? ['1n', '1'] : ['1', '1'];
  return `${name}: ${value} (in a command: --set ${name}=${text})`;
}

/** The dimensions of a parameter that has several: the launch gives them, and has checked that all lie inside the array. */
function shapeOf(
  lowering: Lowering,
  name: string,
  dimensions: Dimensions,
): Pick<ViewValue, 'dimensions' | 'bounds' | 'fits'> {
  const scalars = shapeNames(name, dimensions).map((one) =>
    scalarParameter(lowering, one, lowering.indexType, true),
  );
  const [columns, pitch] = scalars.slice(-2) as [Expression, Expression];
  const rows = scalars.at(-3)!;
  const one = numberConstant(lowering.indexType, 1, columns.range);
  const inner = [
    { extent: rows, pitch },
    { extent: columns, pitch: one },
  ];
  const planes = { extent: scalars[0]!, pitch: binary('multiply', rows, pitch, rows.range) };
  return { dimensions: dimensions === 3 ? [planes, ...inner] : inner, bounds: [], fits: true };
}

/** A further scalar of the launch. */
function scalarParameter(lowering: Lowering, name: string, type: ValueType, isIndex = false): Expression {
  const id = lowering.parameters.push({ kind: 'scalar', name, type, ...(isIndex && { isIndex }) }) - 1;
  return { kind: 'scalar', id, type, range: { source: 0, start: 0, end: 0 } };
}
