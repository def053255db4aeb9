// Mutations of what writes WebAssembly and CUDA C++; those of lanes are in lanes.ts.

import { lanes } from './lanes.ts';
import { mutationsOf } from './mutation.ts';

const operators = ['test/wasm/operators.test.ts', 'test/differential/number-rules.test.ts'];
const text = ['test/cuda/arithmetic-on-host.test.ts', 'test/cuda/golden.test.ts'];

export const mutations = [
  ...mutationsOf(
    'src/targets/legalise/cpu/unroll.ts',
    ['test/wasm/unroll.test.ts'],
    [
      {
        name: 'a counter stays at its last turn',
        from: "[...bodies.flat(), { kind: 'assign', variable, value: at(turns), range: loop.range }]",
        to: "[...bodies.flat(), { kind: 'assign', variable, value: at(turns - 1), range: loop.range }]",
        why: 'what follows a loop computes with a counter that never ended it',
      },
      {
        name: 'a limit that counts is left out',
        from: "operator === 'less' ? last : last + 1;",
        to: 'last;',
        why: 'a loop up to and with a number has a turn too few',
      },
      {
        name: 'the rest of a step is no turn',
        from: 'Math.ceil((end - first) / step)',
        to: 'Math.floor((end - first) / step)',
        why: 'the last turn of a loop whose steps do not end at its limit is left out',
      },
      {
        name: 'turns of several bodies leave none over',
        from: 'turns % bodies === 0 && bodies * size',
        to: 'bodies * size',
        why: 'a loop has turns beyond its limit',
      },
      {
        name: 'every body of a turn has the counter of the first',
        from: '(each) => add(each, body * step)',
        to: '(each) => add(each, 0)',
        why: 'threads do the same turn several times',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/wasm/simd/rounds.ts',
    ['test/wasm/rounds.test.ts'],
    [
      {
        name: 'the last turn of a step that does not end at the limit is left out',
        from: 'Math.ceil((limit - start) / by)',
        to: 'Math.floor((limit - start) / by)',
        why: 'threads leave a loop a turn too early',
      },
      {
        name: 'a turn may count twice',
        from: 'steps.length === 1 ?',
        to: 'steps.length > 0 ?',
        why: 'threads that count otherwise leave a loop when others do',
      },
      {
        name: 'a turn that is ended early counts',
        from: 'anyStatement(body, isContinue)',
        to: 'false',
        why: 'threads leave a loop that go over its count',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/wasm/prefix.ts',
    ['test/wasm/prefix.test.ts'],
    [
      {
        name: 'one thread more than are below a bound takes a branch',
        from: "if (operator === 'less') return right;",
        to: "if (operator === 'less') return oneMore(right, threads);",
        why: 'a thread does what its rank excludes it from',
      },
      {
        name: 'a count of first threads wraps',
        from: "    operator: 'min',",
        to: "    operator: 'max',",
        why: 'no thread does what all of them should',
      },
      {
        name: 'the branch of one thread is that of the first ones',
        from: "if (operator === 'equal') return constantOf(right) === 0 ? integer(right, 1) : null;",
        to: "if (operator === 'equal') return oneMore(right, threads);",
        why: 'threads in front of the one that is meant do the same',
      },
      {
        name: 'what the other threads do is left out',
        from: 'others.length > 0 || only.otherwise.length > 0',
        to: 'others.length > 0',
        why: 'the threads behind the first ones do nothing',
      },
      {
        name: 'a region is cut where a variable goes on to the branch',
        from: 'if ([...read].some((id) => assigned.has(id))) return null;',
        to: 'if ([...read].some((id) => assigned.has(id) && given.has(id))) return null;',
        why: 'the first threads take what the last thread had',
      },
      {
        name: 'a region is cut in front of a branch that leaves a variable',
        from: 'if ([...region.stores, ...region.resets].some((id) => given.has(id))) return null;',
        to: '',
        why: 'what the first threads leave to a later region is lost',
      },
      {
        name: 'the branch behind a cut brings no variables',
        from: 'region.loads.filter((id) => read.has(id) || given.has(id))',
        to: 'region.loads.filter((id) => assigned.has(id) && given.has(id))',
        why: 'the first threads take what the last thread had',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/wasm/rows.ts',
    ['test/wasm/prefix.test.ts'],
    [
      {
        name: 'a prefix is longer than the row',
        from: "code.tee(end).i32(row).get(end).i32(row).op('i32.lt_s', 'select').tee(end);",
        to: 'code.set(end).get(end);',
        why: 'threads that there are not write to memory',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/wasm/unit.ts',
    ['test/wasm/bounds.test.ts', 'test/wasm/lane-atomics.test.ts', ...lanes],
    [
      {
        name: 'an index just beyond an array counts as inside',
        from: 'return least >= 0 && most < length;',
        to: 'return least >= 0 && most <= length;',
        why: 'what lies behind a shared array is changed, and no fault is reported',
      },
      {
        name: 'a negative index counts as inside',
        from: 'return least >= 0 && most < length;',
        to: 'return most < length;',
        why: 'what lies in front of a shared array is changed, and no fault is reported',
      },
      {
        name: 'what is known of another index counts',
        from: 'const { least, most } = this.#factOf(index);',
        to: "const { least, most } = this.#factOf(index.kind === 'binary' ? index.right : index);",
        why: 'a check is left out of an access that may be outside',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/wasm/hoisting.ts',
    ['test/wasm/hoisting.test.ts', ...lanes, 'test/wasm/faults.test.ts'],
    [
      {
        name: 'divisions that may fail are taken out of a region',
        from: "!anyOperand(expression, (each) => each.kind === 'binary' && mayFail(each))",
        to: 'true',
        why: 'a kernel that tests its divisor fails all the same',
      },
      {
        name: 'what differs from thread to thread is taken out of a region',
        from: 'this.#uniformity.isUniform(expression) &&',
        to: '',
        why: 'all threads get what the first computes',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/wasm/half.ts',
    ['test/types/halves.test.ts', 'test/wasm/operators.test.ts'],
    [
      {
        name: 'WebAssembly makes infinity of f16 a number',
        from: 'this.#pick(0x7f800000, 0, () => this.#isAbove(magnitude, 0x0f7fffff));',
        to: 'this.#pick(0x7f800000, 0, () => this.#isAbove(magnitude, 0x0f800000));',
        why: 'infinity of f16 reads as 65536',
      },
      {
        name: 'WebAssembly takes bf16 for f16',
        from: "if (format === 'bf16') {\n      code.i32(16)",
        to: "if (format === 'bf16') {\n      code.i32(13)",
        why: 'every bf16 reads as another number',
      },
    ],
  ),
  ...mutationsOf('src/targets/wasm/operators.ts', operators, [
    {
      name: 'WebAssembly takes NaN for true',
      from: "else if (source === 'f32') code.op('f32.abs').f32(0).op('f32.gt');",
      to: "else if (source === 'f32') code.f32(0).op('f32.ne');",
      why: 'a NaN counts as true, which it does not in JavaScript',
    },
    {
      name: 'WebAssembly takes the least integer from the other operand',
      from: "writeCompare(code, operator === 'min' ? 'less' : 'greater', type);",
      to: "writeCompare(code, operator === 'min' ? 'greater' : 'less', type);",
      why: 'min is max',
    },
    {
      name: 'WebAssembly extends u32 with a sign',
      from: "const sign = from === 'i32' || from === 'i64' ? 's' : 'u';",
      to: "const sign = 's';",
      why: 'u32 from 2^31 on become negative as i64',
    },
    {
      name: 'WebAssembly saturates floats beyond i32',
      from: ".f64(target === 'i32' ? 2 ** 31 : 2 ** 63);",
      to: ".f64(target === 'i32' ? 2 ** 40 : 2 ** 63);",
      why: 'a cast of 2^32 + 1 gives 2^31 - 1, and not 1',
    },
    {
      name: 'WebAssembly shifts abs by too little',
      from: "literal(wasm === 'i32' ? 31 : 63).op(`${wasm}.shr_s`);",
      to: 'literal(31).op(`${wasm}.shr_s`);',
      why: 'abs of an i64 is wrong',
    },
    {
      name: 'WebAssembly rounds remainders of f32',
      from: "code.call(remainder).op('f32.demote_f64');",
      to: "code.call(remainder).op('f32.demote_f64', 'f32.nearest');",
      why: 'the remainder of two floats is an integer',
    },
  ]),
  ...mutationsOf('src/targets/cuda/expressions.ts', text, [
    {
      name: 'CUDA shifts by more than 31 bits',
      from: 'const bits = isBigint(type) ? 63 : 31;',
      to: 'const bits = 63;',
      why: 'a shift by 32 is undefined in C++',
    },
    {
      name: 'CUDA adds signed integers',
      from: "const wraps = operator === 'add' || operator === 'subtract' || operator === 'multiply';",
      to: "const wraps = operator === 'subtract' || operator === 'multiply';",
      why: 'sums beyond 2^31 are undefined in C++',
    },
    {
      name: 'CUDA takes remainders of negative numbers for masks',
      from: 'dividend.least >= 0 && ',
      to: '',
      why: '-1 % 8 is 7',
    },
    {
      name: 'CUDA divides the least number by -1',
      from: 'const fits = divisor.least > -1 ||',
      to: 'const fits = divisor.least >= -1 || divisor.most < 2 ** 31 ||',
      why: 'the quotient of -2147483648 and -1 is undefined in C++',
    },
    {
      name: 'CUDA calls the f64 form for f32',
      from: "const suffix = expression.type === 'f32' && own === undefined ? 'f' : '';",
      to: "const suffix = '';",
      why: 'each sine takes the time of a f64, and has other bits',
      equivalent:
        'CUDA C++ has each function for f32 under the name without f too: nvcc makes the same PTX of both, for all that there are',
    },
    {
      name: 'CUDA shifts signed integers to the left',
      from: 'return `(${valueTypes[type]})((${unsignedOf[type]})${left} << ${amount})`;',
      to: 'return `(${left} << ${amount})`;',
      why: 'a shift into the sign is undefined in C++',
    },
  ]),
];
