// Expressions of the IR as expressions of CUDA C++.
//
// What is written means to the bit what the interpreter computes, where the operation is exact
// by IEEE 754 or an integer's: signed arithmetic wraps (so it is done in unsigned, since C++
// leaves signed overflow undefined), min and max treat NaN and -0 as JavaScript does, and
// conversions of floats to integers are modulo 2^32. The functions of `Math` that are not exact
// (sin, exp, …) are the device's own in the type of the value.

import { bitFunctions } from '../../compiler/functions.ts';
import type {
  BinaryOperator,
  BuiltIn,
  Expression,
  MathFunction,
  Program,
  UnaryOperator,
  ValueType,
} from '../../compiler/ir.ts';
import { isBigint, isFloat } from '../../compiler/number-types.ts';
import { elementOf } from '../analysis/elements.ts';
import { unknown } from '../analysis/values.ts';
import type { Checks } from './checks.ts';
import { positionText } from './positions.ts';
import { arrayName, identifier, lengthName, literal, member, valueTypes } from './types.ts';

const unsignedOf = { i32: 'unsigned', i64: 'unsigned long long' } as const;

const isSigned = (type: ValueType): type is 'i32' | 'i64' => type === 'i32' || type === 'i64';

const infix = {
  add: '+',
  subtract: '-',
  multiply: '*',
  divide: '/',
  remainder: '%',
  and: '&',
  or: '|',
  xor: '^',
  shiftLeft: '<<',
  shiftRight: '>>',
} as const satisfies Record<Exclude<BinaryOperator, 'min' | 'max'>, string>;

const compare = {
  equal: '==',
  notEqual: '!=',
  less: '<',
  lessEqual: '<=',
  greater: '>',
  greaterEqual: '>=',
} as const;

const builtins: Record<BuiltIn, string> = {
  threadRank: 'ws_thread_rank',
  'threadIdx.x': 'threadIdx.x',
  'threadIdx.y': 'threadIdx.y',
  'threadIdx.z': 'threadIdx.z',
  'blockIdx.x': 'blockIdx.x',
  'blockIdx.y': 'blockIdx.y',
  'blockIdx.z': 'blockIdx.z',
  'gridDim.x': 'gridDim.x',
  'gridDim.y': 'gridDim.y',
  'gridDim.z': 'gridDim.z',
};

/** Functions that mean something else in CUDA's math API, or are not there. The others take the suffix f for f32. */
const ownFunctions: Partial<Record<MathFunction, string>> = {
  pow: 'ws_pow',
  round: 'ws_round',
  sign: 'ws_sign',
  roundAway: 'round',
  fmaf: 'fmaf',
};

/** The functions that keep the bits, by what they give; an integer's sign is nothing to them. */
const bitcasts: Readonly<Record<ValueType, string>> = {
  bool: '(bool)',
  i32: '__float_as_int',
  u32: '__float_as_uint',
  i64: '__double_as_longlong',
  u64: '(unsigned long long)__double_as_longlong',
  f32: '__uint_as_float',
  f64: '__longlong_as_double',
};

/** Turns expressions of one program into C++. */
export class ExpressionWriter {
  readonly program: Program;
  readonly checks: Checks;

  constructor(program: Program, checks: Checks) {
    this.program = program;
    this.checks = checks;
  }

  /** An index of an array. One that is tested is exact; else its sums are signed where that comes to the same. */
  index(expression: Expression): string {
    if (this.checks.checked || this.program.indexType === 'i64') return this.write(expression);
    return positionText(expression, this.checks.factOf, (one) => this.write(one));
  }

  /** An element of an array, or a part of it, to be read or written. */
  element(
    element: Omit<Extract<Expression, { kind: 'load' }>, 'kind' | 'type'>,
    access: 'read' | 'write',
  ): string {
    const { array, index, component, range, fits } = element;
    const tested = fits
      ? this.index(index)
      : this.checks.index(this.index(index), index, array, access, range);
    const inside = this.checks.inside(tested, element, access, (each) => this.write(each));
    return `${arrayName(this.program, array)}[${inside}]${member(elementOf(this.program, array), component)}`;
  }

  write(expression: Expression): string {
    const { program } = this;
    switch (expression.kind) {
      case 'constant':
        return literal(expression.type, expression.value);
      case 'variable':
        return identifier(program.variables[expression.id]!.name, expression.id);
      case 'scalar':
        return identifier(program.parameters[expression.id]!.name, expression.id);
      case 'builtin':
        return `(${valueTypes[program.indexType]})${builtins[expression.name]}`;
      case 'length':
        return lengthName(program, expression.array);
      case 'load':
        // The cast keeps 8- and 16-bit elements from being promoted to int where they are unsigned.
        return `((${valueTypes[expression.type]})${this.element(expression, 'read')})`;
      case 'unary':
        return this.#unary(expression.operator, expression.type, this.write(expression.operand));
      case 'binary': {
        const { operator, type, left } = expression;
        if (expression.fast && type === 'f32')
          return `__fdividef(${this.write(left)}, ${this.write(expression.right)})`;
        if ((operator !== 'divide' && operator !== 'remainder') || isFloat(type))
          return this.#binary(operator, type, this.write(left), this.write(expression.right));
        const divisor = this.write(expression.right);
        const right = this.checks.divisor(divisor, expression.right, expression.range);
        if (isSigned(type)) return this.#signedDivision(operator, type, left, expression.right, right);
        return this.#binary(operator, type, this.write(left), right);
      }
      case 'compare':
        return `(${this.write(expression.left)} ${compare[expression.operator]} ${this.write(expression.right)})`;
      case 'convert':
        if (expression.format === 'bits')
          return `${bitcasts[expression.type]}(${this.write(expression.operand)})`;
        if (expression.format !== undefined) {
          const verb = expression.type === 'f32' ? 'from' : 'to';
          return `ws_${verb}_${expression.format}(${this.write(expression.operand)})`;
        }
        return this.#convert(expression.operand.type, expression.type, this.write(expression.operand));
      case 'conditional':
        return `(${this.write(expression.test)} ? ${this.write(expression.then)} : ${this.write(expression.otherwise)})`;
      case 'math': {
        if (expression.fast && expression.type === 'f32') {
          return `__${expression.function}f(${expression.operands.map((operand) => this.write(operand)).join(', ')})`;
        }
        const own = ownFunctions[expression.function];
        const name = own ?? expression.function;
        const suffix = expression.type === 'f32' && own === undefined ? 'f' : '';
        const operands = expression.operands.map((operand) => this.write(operand));
        if (expression.function !== 'hypot') return `${name}${suffix}(${operands.join(', ')})`;
        // C++ on the device has it for two; JavaScript for as many as there are.
        if (operands.length === 1) return `fabs${suffix}(${operands[0]})`;
        return operands.reduce((root, operand) => `${name}${suffix}(${root}, ${operand})`);
      }
    }
    return expression satisfies never;
  }

  #unary(operator: UnaryOperator, type: ValueType, operand: string): string {
    const suffix = type === 'f32' ? 'f' : '';
    switch (operator) {
      case 'negate':
        return isSigned(type)
          ? `(${valueTypes[type]})(0u - (${unsignedOf[type]})${operand})`
          : `(-${operand})`;
      case 'not':
        return `(!${operand})`;
      case 'complement':
        return `(~${operand})`;
      case 'abs':
        if (isFloat(type)) return `fabs${suffix}(${operand})`;
        return isSigned(type) ? `ws_abs(${operand})` : operand;
      case 'sqrt':
      case 'floor':
      case 'ceil':
      case 'trunc':
        return isFloat(type) ? `${operator}${suffix}(${operand})` : operand;
      default: {
        const { cuda, of } = bitFunctions[operator];
        return `(${valueTypes[type]})${cuda}((${of})${operand})`;
      }
    }
  }

  #binary(operator: BinaryOperator, type: ValueType, left: string, right: string): string {
    if (operator === 'min' || operator === 'max') return `ws_${operator}(${left}, ${right})`;
    if (operator === 'remainder' && isFloat(type))
      return `fmod${type === 'f32' ? 'f' : ''}(${left}, ${right})`;
    if (operator === 'shiftLeft' || operator === 'shiftRight') {
      const bits = isBigint(type) ? 63 : 31;
      const amount = `((int)${right} & ${bits})`;
      if (operator === 'shiftRight' || !isSigned(type)) return `(${left} ${infix[operator]} ${amount})`;
      return `(${valueTypes[type]})((${unsignedOf[type]})${left} << ${amount})`;
    }
    const wraps = operator === 'add' || operator === 'subtract' || operator === 'multiply';
    if (wraps && isSigned(type)) {
      const unsigned = unsignedOf[type];
      return `(${valueTypes[type]})((${unsigned})${left} ${infix[operator]} (${unsigned})${right})`;
    }
    return `(${left} ${infix[operator]} ${right})`;
  }

  /** `written` is the divisor as it stands in the text. */
  #signedDivision(
    operator: 'divide' | 'remainder',
    type: 'i32' | 'i64',
    left: Expression,
    right: Expression,
    written: string,
  ): string {
    const [dividend, divisor] = [this.checks.factOf(left), this.checks.factOf(right)];
    // A remainder of what is not negative is unsigned: a mask, where the divisor is a power of two.
    if (operator === 'remainder' && dividend.least >= 0 && divisor.least >= 0) {
      const unsigned = unsignedOf[type];
      return `(${valueTypes[type]})((${unsigned})${this.write(left)} % (${unsigned})${written})`;
    }
    // The least number by -1 leaves the type.
    const fits = divisor.least > -1 || divisor.most < -1 || dividend.least > unknown(type).least;
    if (fits) return this.#binary(operator, type, this.write(left), written);
    return `ws_${operator === 'divide' ? 'quotient' : 'remainder'}(${this.write(left)}, ${written})`;
  }

  #convert(from: ValueType, to: ValueType, operand: string): string {
    if (to === 'bool') return isFloat(from) ? `ws_truthy(${operand})` : `(${operand} != 0)`;
    if (isFloat(from) && !isFloat(to)) {
      return `(${valueTypes[to]})${isBigint(to) ? 'ws_to_wide_integer' : 'ws_to_integer'}(${operand})`;
    }
    return `(${valueTypes[to]})${operand}`;
  }
}
