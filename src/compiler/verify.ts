// The invariants of the IR that its comments promise and its types cannot say: of a kernel as it was written, and
// after each pass.

import { type Expression, elementValueType, type Program, type Statement, type View } from './ir.ts';
import type { CoreCall } from './ir-core.ts';
import { expressionsOf, operandsOf } from './operands.ts';
import { type Rules, verifyCohorts } from './verify-cohorts.ts';

/** Throws if a program breaks an invariant. */
export function verifyProgram(program: Program): void {
  const { expression, index, statements } = rulesOf(program);
  for (const { count } of program.sharedArrays) {
    index(count);
    expression(count);
  }
  statements(program.body, []);
  for (const way of program.cohorts ?? []) verifyCohorts(way, rulesOf(way.program));
}

function rulesOf(program: Program): Rules & { readonly index: (one: Expression) => void } {
  const { indexType } = program;
  const isType = (expression: Expression, type: string, what: string) => {
    if (expression.type !== type) throw new Error(`${what} is ${expression.type}, not ${type}`);
  };
  const elementOf = ({ space, id, as }: View['array']) => {
    if (as !== undefined) return as;
    const list = { global: program.parameters, shared: program.sharedArrays, local: program.localArrays }[
      space
    ];
    const array = list[id];
    if (array === undefined || !('element' in array)) throw new Error(`no array ${space} ${id}`);
    return array.element;
  };

  const expression = (one: Expression): void => {
    if (one.range.start > one.range.end)
      throw new Error(`a range from ${one.range.start} to ${one.range.end}`);
    switch (one.kind) {
      case 'constant': {
        const expected = { bool: 'boolean', i64: 'bigint', u64: 'bigint' }[one.type as string] ?? 'number';
        if (typeof one.value !== expected) throw new Error(`a ${one.type} constant of ${typeof one.value}`);
        break;
      }
      case 'variable':
        isType(one, program.variables[one.id]?.type ?? `variable ${one.id}`, 'a variable');
        break;
      case 'scalar': {
        const parameter = program.parameters[one.id];
        isType(one, parameter?.kind === 'scalar' ? parameter.type : `scalar ${one.id}`, 'a scalar');
        break;
      }
      case 'builtin':
        isType(one, indexType, one.name);
        break;
      case 'length':
        isType(one, indexType, 'a length');
        elementOf(one.array);
        break;
      case 'load':
        isType(one, elementValueType(elementOf(one.array), one.component), 'a load');
        index(one.index);
        one.bounds?.forEach(index);
        break;
      case 'unary':
        isType(one.operand, one.type, one.operator);
        break;
      case 'binary':
        isType(one.left, one.type, `left of ${one.operator}`);
        isType(one.right, one.type, `right of ${one.operator}`);
        break;
      case 'compare':
        isType(one, 'bool', one.operator);
        isType(one.left, one.right.type, `left of ${one.operator}`);
        break;
      case 'convert':
        if (one.operand.type === one.type) throw new Error(`a conversion of ${one.type} to itself`);
        break;
      case 'conditional':
        isType(one.test, 'bool', 'a condition');
        isType(one.then, one.type, 'a branch');
        isType(one.otherwise, one.type, 'a branch');
        break;
      case 'math':
        if (one.type !== 'f32' && one.type !== 'f64') throw new Error(`${one.function} of ${one.type}`);
        for (const operand of one.operands) isType(operand, one.type, one.function);
    }
    for (const operand of operandsOf(one)) expression(operand);
  };
  const index = (one: Expression) => isType(one, indexType, 'an index');

  const seen = new Set<Statement>();
  const labels = new Set<number>();
  const block = (statements: readonly Statement[], around: readonly number[]) => {
    for (const one of statements) statement(one, around);
  };
  const open = (label: number) => {
    if (labels.has(label)) throw new Error(`label ${label} twice`);
    labels.add(label);
  };
  const statement = (one: Statement, around: readonly number[]): void => {
    if (seen.has(one)) throw new Error(`a statement (${one.kind}) stands at two places`);
    seen.add(one);
    for (const each of expressionsOf(one)) expression(each);
    switch (one.kind) {
      case 'assign':
        isType(one.value, program.variables[one.variable]?.type ?? 'no variable', 'an assigned value');
        break;
      case 'store':
        index(one.index);
        one.bounds?.forEach(index);
        isType(one.value, elementValueType(elementOf(one.array), one.component), 'a stored value');
        break;
      case 'if':
        isType(one.test, 'bool', 'a condition');
        block(one.then, around);
        block(one.otherwise, around);
        break;
      case 'loop':
        open(one.label);
        if (one.test !== null) isType(one.test, 'bool', 'a condition');
        block(one.body, [...around, one.label]);
        block(one.update, around);
        break;
      case 'block':
        open(one.label);
        block(one.body, [...around, one.label]);
        break;
      case 'break':
      case 'continue':
        if (!around.includes(one.label))
          throw new Error(`${one.kind} out of ${one.label}, which is not around`);
        break;
      case 'return':
        break;
      case 'region':
        region(one);
        break;
      case 'call':
        call(one);
    }
  };
  let inRegion = false;
  const region = (one: Extract<Statement, { kind: 'region' }>): void => {
    if (program.level !== 'block') throw new Error('a region in a program of threads');
    if (inRegion) throw new Error('a region in a region');
    for (const id of [...one.loads, ...one.stores, ...one.resets])
      if (program.variables[id] === undefined) throw new Error(`no variable ${id}`);
    if (one.resets.some((id) => one.loads.includes(id) || one.stores.includes(id)))
      throw new Error('a variable has one value, and one for each thread');
    inRegion = true;
    block(one.body, []);
    inRegion = false;
  };
  /** What is done by programs of a level, beside what threads do alone in each. */
  const misuse = ['pipelineMisused', 'barrierMisused'];
  const ofLevel: Record<string, ReadonlySet<string>> = {
    block: new Set(['stuckAtStage', 'stuckAtBarrier', ...misuse]),
    cohort: new Set(['post', 'waitUntil', 'countsDiffer', 'oneSided', ...misuse]),
  };
  const ofCpu = new Set(Object.values(ofLevel).flatMap((kinds) => [...kinds]));
  const alone = new Set(['copyNow', 'fence']);
  const core = ({ operation, result }: CoreCall): void => {
    if (operation.kind === 'copyChunks' && ![4, 8, 16].includes(operation.chunkBytes))
      throw new Error(`cp.async copies 4, 8 or 16 bytes, and no ${operation.chunkBytes}`);
    const { kind } = operation;
    const own = ofLevel[program.level ?? ''];
    if (own === undefined ? ofCpu.has(kind) : !alone.has(kind) && !own.has(kind))
      throw new Error(`${kind} in a program of ${program.level ?? 'threads'}`);
    if ('array' in operation) {
      const { array } = operation;
      const phase = 'phase' in operation ? operation.phase : null;
      index(operation.index);
      if (array.space !== 'shared' || program.sharedArrays[array.id]?.counts !== true)
        throw new Error(`${kind} of an array that is none of counts`);
      if (phase !== null) isType(phase, 'i32', 'a phase');
    }
    if (operation.kind === 'post') {
      isType(operation.by, 'i32', 'what is added');
      if (result !== null && program.variables[result]?.type !== 'i32') throw new Error('a wrong sum');
    }
    if (operation.kind === 'waitUntil') {
      isType(operation.test, 'bool', 'what is waited for');
      if (operation.waits === (result !== null))
        throw new Error('a wait gives nothing, a question its answer');
    }
    if ('destination' in operation) {
      const { destination, source, count } = operation;
      for (const view of [destination, source]) index(view.offset);
      index(count);
      if (elementOf(destination.array) !== elementOf(source.array)) throw new Error('a copy of two types');
    }
    if ('mbarrier' in operation && program.mbarriers?.[operation.mbarrier] === undefined)
      throw new Error('no such mbarrier');
  };
  const call = (one: Extract<Statement, { kind: 'call' }>): void => {
    if ('pipeline' in one && program.pipelines[one.pipeline] === undefined)
      throw new Error('no such pipeline');
    if ('barrier' in one && program.barriers[one.barrier] === undefined) throw new Error('no such barrier');
    // There is nobody whom a block could wait for.
    if (program.level === 'block' && ['sync', 'warp', 'nanosleep'].includes(one.intrinsic))
      throw new Error(`${one.intrinsic} in a program that its block runs`);
    // Threads wait for words alone.
    if (program.level === 'cohort' && ['sync', 'warp'].includes(one.intrinsic))
      throw new Error(`${one.intrinsic} in a program of cohorts`);
    if ('limit' in one && one.limit !== null) isType(one.limit, 'f64', 'a limit');
    switch (one.intrinsic) {
      case 'core':
        core(one);
        break;
      case 'memcpyAsync':
        for (const view of [one.destination, one.source]) index(view.offset);
        index(one.count);
        if (one.zeroFill !== null) index(one.zeroFill);
        if (elementOf(one.destination.array) !== elementOf(one.source.array))
          throw new Error('a copy of two types');
        break;
      case 'makeBarrier':
        if (one.expected !== null) index(one.expected);
        break;
      case 'barrierArrive':
        index(one.index);
        if (one.count !== null) index(one.count);
        if (one.result !== null && program.variables[one.result]?.type !== 'i64')
          throw new Error('a wrong token');
        break;
      case 'barrierWait':
        index(one.index);
        isType(one.phase, one.by === 'token' ? 'i64' : 'bool', 'a phase');
        break;
      case 'atomic': {
        const type = elementValueType(elementOf(one.array));
        index(one.index);
        isType(one.value, type, 'a value');
        if (one.compare !== null) isType(one.compare, type, 'a compared value');
        if (one.result !== null && program.variables[one.result]?.type !== type)
          throw new Error('a wrong result');
        break;
      }
      case 'nanosleep':
        isType(one.duration, 'f64', 'a duration');
        break;
      case 'assert':
        isType(one.test, 'bool', 'an assertion');
    }
  };

  return { expression, index, statements: block };
}
