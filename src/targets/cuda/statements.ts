// Statements of the IR as statements of CUDA C++.
//
// Loops and blocks become loops and blocks; `break` and `continue`, which name their loop, become gotos. All
// variables stand at the kernel's head, so that no goto jumps over an initialisation. What synchronises is
// handed to the lowering of pipelines.

import type { Call, Program, Statement } from '../../compiler/ir.ts';
import type { Range } from '../../diagnostics/source.ts';
import { partOf } from '../../kernel/layout.ts';
import { elementOf } from '../analysis/elements.ts';
import type { Checks } from './checks.ts';
import { ExpressionWriter } from './expressions.ts';
import { arrayName, elementType, identifier, numberTypes, valueTypes } from './types.ts';
import { warpStatement } from './warps.ts';

/** Writes the calls that synchronise or copy: chosen for each kernel by analysis. */
export interface CallLowering {
  write(call: Exclude<Call, OwnCall>, out: StatementWriter): void;
}

/** Calls that take no other thread; they are written here. */
export type OwnCall = Extract<
  Call,
  { intrinsic: 'atomic' | 'print' | 'assert' | 'warp' | 'globaltimer' | 'clock64' | 'nanosleep' }
>;
type AtomicCall = Extract<Call, { intrinsic: 'atomic' }>;
/** Atomic operations that move bits take those of floats as integers. */
/** PTX's names of scopes. */
const scopesOfFences = { block: 'cta', device: 'gpu', system: 'sys' } as const;

const bitsOfFloats = {
  f32: { type: 'unsigned', bits: '__float_as_uint', value: '__uint_as_float' },
  f64: {
    type: 'unsigned long long',
    bits: '(unsigned long long)__double_as_longlong',
    value: '__longlong_as_double',
  },
} as const;

/** A thread that fails reports so many values. */
const mostValues = 4;

type PrintCall = Extract<Call, { intrinsic: 'print' }>;

/** Lines of C++, indented by the nesting of blocks. */
export class StatementWriter {
  readonly program: Program;
  readonly expressions: ExpressionWriter;
  readonly lines: string[] = [];
  readonly #calls: CallLowering;
  readonly #lineDirective: (range: Range) => string | null;
  /** Said before each line, as one statement may become several. */
  #directive: string | null = null;
  #depth = 1;

  constructor(
    program: Program,
    calls: CallLowering,
    checks: Checks,
    lineDirective: (range: Range) => string | null,
  ) {
    this.program = program;
    this.expressions = new ExpressionWriter(program, checks);
    this.#calls = calls;
    this.#lineDirective = lineDirective;
  }

  line(text: string): void {
    if (this.#directive !== null) this.lines.push(this.#directive);
    this.lines.push('  '.repeat(this.#depth) + text);
  }

  /** Writes `open {`, what `body` writes one level deeper, and `}` with `close` behind it. */
  nested(open: string, body: () => void, close = '}'): void {
    this.line(open === '' ? '{' : `${open} {`);
    this.#depth += 1;
    body();
    this.#depth -= 1;
    this.line(close);
  }

  statements(list: readonly Statement[]): void {
    for (const statement of list) this.#statement(statement);
  }

  #statement(statement: Statement): void {
    this.#directive = this.#lineDirective(statement.range);
    const { expressions, program } = this;
    expressions.checks.enter(statement);
    switch (statement.kind) {
      case 'assign': {
        const { name, ghost } = program.variables[statement.variable]!;
        if (ghost) return;
        this.line(`${identifier(name, statement.variable)} = ${expressions.write(statement.value)};`);
        return;
      }
      case 'store': {
        const type = numberTypes[partOf(elementOf(program, statement.array), statement.component).element];
        const value = expressions.write(statement.value);
        this.line(`${expressions.element(statement, 'write')} = (${type})${value};`);
        return;
      }
      case 'if':
        this.nested(`if (${expressions.write(statement.test)})`, () => this.statements(statement.then));
        if (statement.otherwise.length > 0) this.nested('else', () => this.statements(statement.otherwise));
        return;
      case 'loop':
        this.#loop(statement);
        return;
      case 'block':
        this.nested('', () => this.statements(statement.body));
        this.line(`break_${statement.label}:;`);
        return;
      case 'break':
        this.line(`goto break_${statement.label};`);
        return;
      case 'continue':
        this.line(`goto continue_${statement.label};`);
        return;
      case 'return':
        this.line('return;');
        return;
      case 'region':
        throw new TypeError('threads of a GPU are no regions');
      case 'call':
        this.#call(statement);
        return;
    }
    statement satisfies never;
  }

  #call(call: Call): void {
    switch (call.intrinsic) {
      case 'atomic':
        this.#atomic(call);
        return;
      case 'assert':
        this.#assert(call);
        return;
      case 'print':
        this.#print(call);
        return;
      case 'globaltimer':
      case 'clock64': {
        const clock = call.intrinsic === 'clock64' ? 'clock64' : 'ws_globaltimer';
        this.line(
          `${identifier(this.program.variables[call.result]!.name, call.result)} = (double)${clock}();`,
        );
        return;
      }
      case 'warp':
        this.line(warpStatement(this.expressions, call));
        return;
      case 'nanosleep':
        this.line(`ws_nanosleep(${this.expressions.write(call.duration)});`);
        return;
      default:
        this.#calls.write(call, this);
    }
  }

  #loop(loop: Extract<Statement, { kind: 'loop' }>): void {
    const test = loop.test === null ? 'true' : this.expressions.write(loop.test);
    const { checks } = this.expressions;
    const turn = checks.turn(loop);
    const body = () => {
      if (turn !== null) this.line(turn);
      this.statements(loop.body);
      this.line(`continue_${loop.label}:;`);
      this.statements(loop.update);
    };
    if (loop.testFirst) this.nested(`while (${test})`, body);
    else this.nested('do', body, `} while (${test});`);
    this.line(`break_${loop.label}:;`);
  }

  /** Fences give an operation its order, as the hardware's own ordered operations are made of them too. */
  #atomic(call: AtomicCall): void {
    const { order = 'relaxed', scope = 'device' } = call;
    const fence = (kind: 'acq_rel' | 'sc') =>
      this.line(`asm volatile("fence.${kind}.${scopesOfFences[scope]};" ::: "memory");`);
    if (order === 'seq_cst') fence('sc');
    else if (order === 'release' || order === 'acq_rel') fence('acq_rel');
    this.#operation(call);
    if (order !== 'relaxed' && order !== 'release') fence('acq_rel');
  }

  #operation({ operator, array, index, value, compare, result, range, scope = 'device' }: AtomicCall): void {
    const names = {
      add: 'Add',
      sub: 'Sub',
      min: 'Min',
      max: 'Max',
      and: 'And',
      or: 'Or',
      xor: 'Xor',
      inc: 'Inc',
      dec: 'Dec',
      exch: 'Exch',
      cas: 'CAS',
    };
    // What only threads of this block reach needs no wider scope.
    const suffix = array.space === 'global' && scope !== 'device' ? `_${scope}` : '';
    const element = elementOf(this.program, array);
    const place = () => `&${this.expressions.element({ array, index, range }, 'write')}`;
    const give = (text: string) =>
      this.line(
        result === null
          ? `${text};`
          : `${identifier(this.program.variables[result]!.name, result)} = ${text};`,
      );
    if (operator === 'load' || operator === 'store') {
      const type = elementType(this.program, element);
      const volatile = `*(volatile ${type}*)${place()}`;
      if (operator === 'store') this.line(`${volatile} = ${this.expressions.write(value)};`);
      else give(volatile);
      return;
    }
    const float = element === 'f32' || element === 'f64' ? bitsOfFloats[element] : null;
    if (float !== null && (operator === 'exch' || operator === 'cas')) {
      const bits = [...(compare === null ? [] : [compare]), value].map(
        (operand) => `${float.bits}(${this.expressions.write(operand)})`,
      );
      const old = `atomic${names[operator]}${suffix}((${float.type}*)${[place(), ...bits].join(', ')})`;
      give(result === null ? old : `${float.value}(${old})`);
      return;
    }
    const isWide = element === 'i64' || element === 'u64';
    // Of 64 bits only the least and the greatest know signed integers, and nothing subtracts.
    const isUnsigned = isWide && operator !== 'min' && operator !== 'max';
    const subtracts = isWide && operator === 'sub';
    const cast = isUnsigned ? '(unsigned long long*)' : '';
    const address = `${cast}${place()}`;
    const operands = [...(compare === null ? [] : [compare]), value].map((operand) => {
      const text = this.expressions.write(operand);
      if (!isUnsigned) return text;
      return `${subtracts ? '0ull - ' : ''}(unsigned long long)${text}`;
    });
    const name = subtracts ? 'Add' : names[operator];
    give(`atomic${name}${suffix}(${[address, ...operands].join(', ')})`);
  }

  #assert(call: Extract<Call, { intrinsic: 'assert' }>): void {
    const { expressions } = this;
    const values = call.parts.flatMap((part) =>
      typeof part === 'string' ? [] : [`(long long)ws_bits(${expressions.write(part)})`],
    );
    while (values.length < mostValues) values.push('0');
    const site = expressions.checks.print(call);
    this.line(`if (!(${expressions.write(call.test)})) ws_report(${[site, ...values].join(', ')});`);
  }

  /** The bits of the values go to the host, which has the texts between them. */
  #print(call: PrintCall): void {
    const { expressions } = this;
    const values = call.parts.flatMap((part) =>
      typeof part === 'string' ? [] : [`ws_bits(${expressions.write(part)})`],
    );
    const site = expressions.checks.print(call);
    const to = `ws_host, ws_launch, ws_thread_rank, ${site}`;
    if (values.length === 0) {
      this.line(`ws_print(${to}, nullptr, 0);`);
      return;
    }
    this.nested('', () => {
      this.line(`const unsigned long long values[] = { ${values.join(', ')} };`);
      this.line(`ws_print(${to}, values, ${values.length});`);
    });
  }

  /** Declarations of all variables, as every one is zero until it is assigned. */
  declarations(): void {
    for (const [id, { name, type, ghost }] of this.program.variables.entries()) {
      if (!ghost) this.line(`${valueTypes[type]} ${identifier(name, id)} = 0;`);
    }
    for (const [id, array] of this.program.localArrays.entries()) {
      const name = arrayName(this.program, { space: 'local', id });
      this.line(`${elementType(this.program, array.element)} ${name}[${array.count}];`);
      this.line(`const ${valueTypes[this.program.indexType]} ${name}_length = ${array.count};`);
    }
  }
}
