// What is known of a program before it runs holds when it runs: every value that the interpreter finds, in
// random programs, is one that the facts allow.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Kernel, kernel } from 'warpstage';
import { binaryOperation, DivisionByZero, type Value } from '#warpstage/compiler/arithmetic.js';
import type { BinaryOperator, Expression, Program, ValueType } from '#warpstage/compiler/ir.js';
import { printProgram } from '#warpstage/compiler/print.js';
import { specialise } from '#warpstage/compiler/specialise.js';
import { factsOf } from '#warpstage/targets/analysis/facts.js';
import { clipped, computed, exactly, type Fact, join, unknown } from '#warpstage/targets/analysis/values.js';
import { cudaText } from '#warpstage/targets/cuda/compile.js';
import { randomArguments } from '../differential/random-inputs.ts';
import { type RandomProgram, randomProgram } from '../differential/random-program.ts';
import { warpKernelText } from '../differential/random-warps.ts';
import { randomRuns, type Tape, tapes } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import {
  add,
  binary,
  compare,
  conditional,
  constant,
  convert,
  ProgramBuilder,
  store,
  unary,
  type VariableHandle,
  when,
} from '../support/ir.ts';
import { interpreted, regionsOf } from '../support/lowered.ts';
import { type Found, foundIn, withProbes } from '../support/probes.ts';
import { runProgram } from '../support/run-program.ts';
import { atLength } from '../support/thorough.ts';
import { countingLength, countingProgram } from './random-counting.ts';

/** Whether a value, as it was printed, is one that a fact allows. */
function allows(fact: Fact, type: ValueType, text: string): boolean {
  if (fact.value !== null) return text === (Object.is(fact.value, -0) ? '-0' : String(fact.value));
  if (type === 'f32' || type === 'f64') return true;
  const value = type === 'bool' ? BigInt(text === 'true') : BigInt(text);
  const modulus = BigInt(fact.modulus);
  return (
    value >= BigInt(fact.least) &&
    value <= BigInt(fact.most) &&
    ((value % modulus) + modulus) % modulus === BigInt(fact.residue)
  );
}

/** The facts of a program whose arrays and scalars are its own affair, against what its threads found. */
function check(program: Program, found: readonly Found[]): void {
  const facts = factsOf(program);
  const known = new Map<string, readonly Fact[]>();
  for (const { probe, rank, values } of found) {
    const ways = {
      here: facts.at(probe.statement),
      anywhere: facts.at(null),
      inThread: facts.inThread(rank),
    };
    for (const [which, factOf] of Object.entries(ways)) {
      const key = `${which} ${probe.number} ${which === 'inThread' ? rank : ''}`;
      const stated = known.get(key) ?? probe.expressions.map(factOf);
      known.set(key, stated);
      for (const [i, expression] of probe.expressions.entries()) {
        if (allows(stated[i]!, expression.type, values[i]!)) continue;
        const [fact, of] = [stated[i], expression].map((each) => JSON.stringify(each, shown));
        throw new Error(`${values[i]} ${which}, not ${fact}\n${of}\n${printProgram(program)}`);
      }
    }
  }
}

function shown(key: string, each: unknown): unknown {
  return key === 'range' ? undefined : typeof each === 'bigint' ? `${each}n` : each;
}

/** What the threads find who run a program. */
function run(program: Program, grid: number, given: Parameters<typeof runProgram>[2]['arguments']): Found[] {
  const probed = withProbes(program);
  const { printed, fault } = runProgram(interpreter('late'), probed.program, { grid, arguments: given });
  expect(fault, printProgram(program)).toBeNull();
  return printed.map((line) => foundIn(line, probed.probes));
}

test('what an operation gives is what is known of its operands allows', () => {
  const edges: Readonly<Record<'i32' | 'u32' | 'i64' | 'u64', readonly bigint[]>> = {
    i32: [0n, 1n, -1n, 2n, 7n, 8n, -8n, 31n, 33n, 255n, 65_536n, 2n ** 31n - 1n, -(2n ** 31n), 2n ** 30n],
    u32: [0n, 1n, 2n, 7n, 8n, 31n, 33n, 255n, 65_536n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 32n - 8n],
    i64: [
      0n,
      1n,
      -1n,
      8n,
      -8n,
      40n,
      65n,
      2n ** 31n,
      2n ** 49n + 1n,
      2n ** 53n,
      2n ** 53n + 1n,
      -(2n ** 63n),
      2n ** 63n - 1n,
    ],
    u64: [0n, 1n, 8n, 40n, 65n, 2n ** 32n, 2n ** 49n + 1n, 2n ** 53n + 2n, 2n ** 63n, 2n ** 64n - 1n],
  };
  const operators: readonly BinaryOperator[] = [
    ...(['add', 'subtract', 'multiply', 'divide', 'remainder', 'min', 'max'] as const),
    ...(['and', 'or', 'xor', 'shiftLeft', 'shiftRight'] as const),
  ];
  const operand = (type: keyof typeof edges, tape: Tape): Value[] =>
    Array.from({ length: 1 + tape.below(3) }, () => {
      const value = tape.pick(edges[type]) + BigInt(tape.below(5)) - 2n;
      const bits = type === 'i32' || type === 'u32' ? 32 : 64;
      const held = type.startsWith('i') ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value);
      return bits === 64 ? held : Number(held);
    });
  let bounded = 0;
  fc.assert(
    fc.property(tapes(20), (tape) => {
      const type = tape.pick(['i32', 'u32', 'i64', 'u64'] as const);
      const [lefts, rights] = [operand(type, tape), operand(type, tape)];
      const facts = [lefts, rights].map((values) => values.map((value) => exactly(type, value)).reduce(join));
      const [left, right] = [lefts, rights].map(([value]) => constant(type, value!)) as [
        Expression,
        Expression,
      ];
      const check = (fact: Fact, ofType: ValueType, text: string, what: string) =>
        expect(allows(fact, ofType, text), `${what}: ${text} is not allowed`).toBe(true);
      for (const operator of operators) {
        const known = computed(binary(operator, left, right) as never, facts);
        if (known.modulus > 1 || known.least > exactly(type, lefts[0]!).least - 2 ** 20) bounded += 1;
        for (const a of lefts) {
          for (const b of rights) {
            try {
              check(known, type, String(binaryOperation(operator, type)(a, b)), `${a} ${operator} ${b}`);
            } catch (error) {
              if (!(error instanceof DivisionByZero)) throw error;
            }
          }
        }
      }
      for (const operator of ['less', 'lessEqual', 'greater', 'greaterEqual', 'equal', 'notEqual'] as const) {
        const expression = compare(operator, left, right) as never;
        const known = computed(expression, facts);
        for (const a of lefts) {
          for (const b of rights) {
            const value = computed(expression, [exactly(type, a), exactly(type, b)]).value;
            check(known, 'bool', String(value), `${a} ${operator} ${b}`);
          }
        }
      }
      for (const operator of ['negate', 'complement', 'abs'] as const) {
        const expression = unary(operator, left) as never;
        const known = computed(expression, [facts[0]!]);
        for (const a of lefts) {
          check(known, type, String(computed(expression, [exactly(type, a)]).value), `${operator} ${a}`);
        }
      }
      for (const to of ['i32', 'u32', 'i64', 'u64', 'bool'] as const) {
        if (to === type) continue;
        const expression = { kind: 'convert', operand: left, type: to, range: left.range } as const;
        const known = computed(expression, [facts[0]!]);
        for (const a of lefts) {
          check(known, to, String(computed(expression, [exactly(type, a)]).value), `${a} to ${to}`);
        }
      }
    }),
    randomRuns(atLength ? 1000 : 500),
  );
  expect(bounded).toBeGreaterThan(1000);
});

test('a test that a value passes leaves it, and one that it does not pass leaves no way', () => {
  const bound = fc.oneof(fc.constantFrom(0, 1, 252, 2 ** 32, Number.MAX_SAFE_INTEGER), fc.maxSafeInteger());
  const value = fc.oneof(
    fc.constantFrom(0n, 1n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n),
    fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  );
  fc.assert(
    fc.property(value, bound, bound, (number, one, other) => {
      const bounds = { least: Math.min(one, other), most: Math.max(one, other) };
      const passes = number >= bounds.least && number <= bounds.most;
      const known = clipped(exactly('u64', number), 'u64', bounds);
      expect(known).toEqual(passes ? exactly('u64', number) : null);
      // What is joined afterwards still allows what each way allowed.
      const either = join(known ?? exactly('u64', 3n), exactly('u64', number));
      expect(allows(either, 'u64', String(number))).toBe(true);
      const left = clipped(unknown('u64'), 'u64', bounds);
      if (passes) expect(left !== null && allows(left, 'u64', String(number))).toBe(true);
    }),
    randomRuns(200),
  );
});

test('programs that count near the edges of their types find only what the facts allow', () => {
  let lines = 0;
  let narrow = 0;
  fc.assert(
    fc.property(tapes(300), (tape) => {
      const program = countingProgram(tape);
      const found = run(program, 1, {
        memory: new Int32Array(countingLength),
        bytes: Uint8Array.from({ length: countingLength }, (_, i) => 255 - 80 * i),
        signed: Int8Array.from({ length: countingLength }, (_, i) => 127 - 85 * i),
        n: 2 ** 31 - 1,
        m: 2n ** 31n,
      });
      check(program, found);
      compareThreads(program, found);
      lines += found.length;
      for (const { probe } of found.slice(0, 20)) {
        const factOf = factsOf(program).at(probe.statement);
        narrow += probe.expressions.filter(
          (each) => each.type === 'i32' && factOf(each).most < 2 ** 31 - 1,
        ).length;
      }
    }),
    randomRuns(200),
  );
  // Threads came to what was asked about, and of much of it something was known.
  expect(lines).toBeGreaterThan(10_000);
  expect(narrow).toBeGreaterThan(1000);
});

test('random programs find only what the facts allow, and threads the same where it is said to be', () => {
  let alike = 0;
  let even = 0;
  fc.assert(
    fc.property(tapes(300), (tape) => {
      const random: RandomProgram = randomProgram(tape);
      const { program, grid } = random;
      const found = run(program, grid, randomArguments(random).everything);
      check(program, found);
      const { alike: more, even: moreEven } = compareThreads(program, found);
      alike += more;
      even += moreEven;
    }),
    randomRuns(40),
  );
  expect(alike).toBeGreaterThan(1000);
  expect(even).toBeGreaterThan(100);
});

test('what is known of a program as regions holds when these run', () => {
  let regions = 0;
  let lines = 0;
  fc.assert(
    fc.property(tapes(60), (tape) => {
      const text = warpKernelText(tape);
      const schema = { out: 'i32[]', x: 'readonly i32[]' } as const;
      const made = kernel(schema, new Function(`return ${text}`)()) as unknown as Kernel;
      const options = { block: [40, 1, 1], indexType: 'i32', functions: {}, constants: {} } as const;
      const { program } = specialise(made, options);
      const lowered = regionsOf(program);
      if (lowered === null) return;
      const probed = withProbes(lowered);
      const x = Int32Array.from({ length: 64 }, (_, i) => (i * 2_654_435_761) | 0);
      const target = interpreted(
        'regions',
        'late',
        () => {},
        () => probed.program,
      );
      const launch = { grid: 1, arguments: { out: new Int32Array(64), x } };
      const { printed } = runProgram(target, program, launch);
      const found = printed.map((line) => foundIn(line, probed.probes));
      check(lowered, found);
      regions += 1;
      lines += found.length;
    }),
    randomRuns(30),
  );
  expect(regions).toBeGreaterThan(3);
  expect(lines).toBeGreaterThan(1000);
});

/** What threads find who come to a place together: in a block the same where it is uniform, in a row evenly more. */
function compareThreads(program: Program, found: readonly Found[]) {
  const facts = factsOf(program);
  const { partial, divergent, isUniform } = facts.among('block');
  const forms = facts.affine();
  const [row] = program.block;
  const times = new Map<string, number>();
  const firsts = new Map<string, Found>();
  let [alike, even] = [0, 0];
  for (const one of found) {
    const { probe, block, rank, values } = one;
    if (partial.has(probe.statement) || divergent.has(probe.statement)) continue;
    const thread = `${probe.number} ${block} ${rank}`;
    const time = times.get(thread) ?? 0;
    times.set(thread, time + 1);
    const visit = `${probe.number} ${block} ${time}`;
    const first = firsts.get(visit) ?? one;
    firsts.set(visit, first);
    for (const [i, expression] of probe.expressions.entries()) {
      const text = () =>
        `${values[i]} and ${first.values[i]}\n${JSON.stringify(expression, shown)}\n${printProgram(program)}`;
      if (isUniform(expression)) {
        alike += 1;
        if (values[i] !== first.values[i]) throw new Error(text());
      }
      const form = forms.of(expression);
      if (form === null || form.coefficient === 0 || Math.floor(rank / row) !== Math.floor(first.rank / row))
        continue;
      even += 1;
      const bits = expression.type === 'i64' || expression.type === 'u64' ? 64 : 32;
      const difference = BigInt(values[i]!) - BigInt(first.values[i]!);
      if (BigInt.asUintN(bits, difference - BigInt(form.coefficient * (rank - first.rank))) !== 0n)
        throw new Error(text());
    }
  }
  return { alike, even };
}

test('a counter may wrap unless a test keeps it from that', () => {
  const p = new ProgramBuilder('turns', 1);
  const y = p.array('y', 'i32');
  const variables = ['i', 'j', 'k'].map((name) => p.variable(name, 'i32'));
  const [i, j, k] = variables as [VariableHandle, VariableHandle, VariableHandle];
  const count = k.set(add(k.value, p.index(1)));
  const inner = p.countUp(j, p.index(0), compare('less', j.value, p.index(50_000)), [count]);
  const last = store(y, i.value, binary('remainder', k.value, p.index(7)));
  const program = p.build([
    ...p.countUp(i, p.index(0), compare('less', i.value, p.index(50_000)), inner),
    last,
  ]);
  const factOf = factsOf(program).at(last);
  // It counts 2500 million turns.
  expect(factOf(k.value)).toMatchObject({ least: -(2 ** 31), most: 2 ** 31 - 1 });
  expect(factOf(i.value)).toMatchObject({ least: 50_000, most: 50_000 });
  expect(cudaText(program, 90)).toContain('(k_2 % 7)');
});

test('a narrowed value that passed a test says nothing of the wide one', () => {
  const p = new ProgramBuilder('narrowed', 1);
  const y = p.array('y', 'i32');
  const m = p.scalar('m', 'i64');
  const [wide, byte] = [p.variable('wide', 'i64'), p.variable('byte', 'i64')];
  const isSmall = ({ value }: VariableHandle) => compare('less', convert(value, 'i32'), p.index(10));
  const kept = store(y, convert(byte.value, 'i32'), convert(wide.value, 'i32'));
  const program = p.build([
    wide.set(m),
    byte.set(binary('and', m, constant('i64', 255n))),
    when(isSmall(wide), [when(isSmall(byte), [kept])]),
  ]);
  const factOf = factsOf(program).at(kept);
  expect(factOf(wide.value).most).toBeGreaterThan(2 ** 60);
  expect(factOf(byte.value)).toMatchObject({ least: 0, most: 9 });
});

test('a conditional knows in each branch what its test says there', () => {
  const p = new ProgramBuilder('branches', 256);
  const y = p.array('y', 'i32');
  const n = p.scalar('n', 'i32');
  const [rank, last] = [p.variable('rank', 'i32'), p.variable('last', 'i32')];
  const t = p.builtin('threadRank');
  const second = binary(
    'add',
    binary('multiply', binary('subtract', t, p.index(128)), p.index(2)),
    p.index(1),
  );
  const parity = conditional(compare('less', t, p.index(128)), binary('multiply', t, p.index(2)), second);
  const kept = store(y, rank.value, last.value);
  const never = conditional(compare('less', t, p.index(256)), rank.value, p.index(1000));
  const program = p.build([
    last.set(n),
    rank.set(parity),
    last.set(conditional(compare('greaterEqual', last.value, p.index(7)), last.value, p.index(7))),
    kept,
  ]);
  const factOf = factsOf(program).at(kept);
  expect(factOf(rank.value)).toMatchObject({ least: 0, most: 255 });
  expect(factOf(last.value)).toMatchObject({ least: 7, most: 2 ** 31 - 1 });
  expect(factOf(never)).toMatchObject({ least: 0, most: 255 });
});

test('a block comes before the extent of the grid, which is as large as indices allow', () => {
  const p = new ProgramBuilder('grid', 256);
  const y = p.array('y', 'i32');
  const [block, extent] = [p.builtin('blockIdx.x'), p.builtin('gridDim.x')];
  const factOf = factsOf(p.build([store(y, block, extent)])).at(null);
  const most = 8_388_607;
  expect(most * 256).toBeLessThan(2 ** 31);
  expect((most + 1) * 256).toBeGreaterThanOrEqual(2 ** 31);
  expect(factOf(extent)).toMatchObject({ least: 0, most });
  expect(factOf(block)).toMatchObject({ least: 0, most: most - 1 });
  expect(factOf(binary('multiply', extent, p.builtin('gridDim.y')))).toMatchObject({ least: 0, most });
});

test('what follows from a rank by way of other variables is not kept for another thread', () => {
  const p = new ProgramBuilder('ranks', 256);
  const y = p.array('y', 'i32');
  const first = p.variable('first', 'i32');
  const second = p.variable('second', 'i32');
  const shared = p.variable('shared', 'i32');
  const place = add(second.value, shared.value);
  const program = p.build([
    shared.set(binary('multiply', p.builtin('blockIdx.x'), p.index(256))),
    first.set(p.builtin('threadRank')),
    second.set(add(first.value, p.index(1))),
    store(y, place, place),
  ]);
  const facts = factsOf(program);
  for (const rank of [0, 7, 7, 255, 0]) {
    const factOf = facts.inThread(rank);
    expect(factOf(second.value)).toMatchObject({ least: rank + 1, most: rank + 1 });
    expect(factOf(shared.value)).toMatchObject({ least: 0, modulus: 256, residue: 0 });
    expect(factOf(place)).toMatchObject({ modulus: 256, residue: (rank + 1) % 256 });
  }
});
