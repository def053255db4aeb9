// What is wrong with a kernel is said with its place, the values, and how to mend it.
//
// Each statement below stands on a line of its own in one kernel for each code: so these tests
// promise besides that independent mistakes are told together.

import { expect, test } from 'vitest';
import { deviceFunction } from 'warpstage';
import { compile, functionOf, kernelOf, mistakesIn } from './support.ts';

const scale = deviceFunction(
  { out: 'f32[]', by: 'f32', times: 'constant index = 1' },
  ({ out, by, times }) => {
    out[0]! *= by * times;
  },
);

const schema = {
  y: 'f32[]',
  x: 'readonly f32[]',
  n: 'index',
  i: 'i32',
  u: 'u32',
  f: 'f32',
  h: 'i32[]',
  b: 'u8[]',
  c: 'constant index = 2',
  scale,
} as const;

const parameters = `{ ${Object.keys(schema).join(', ')} }, cuda`;

/** Statements, each with its mistakes: `column underlined: message (hint)`, in the code of the group if none is given. */
const cases: Readonly<Record<string, readonly (readonly string[])[]>> = {
  WS1002: [
    [
      `y[0] = factor;`,
      `10 factor: 'factor' is captured from outside the function (add factor: 'f32' or factor: 'constant f32' to the schema, and take it from the first parameter)`,
    ],
    [
      `helper(y);`,
      `3 helper: 'helper' is captured from outside the function (make it a device function, add 'helper' to the schema, and take it from the first parameter)`,
    ],
    [
      `y[0] = table[3];`,
      `10 table: 'table' is captured from outside the function (add table: 'readonly f32[]' to the schema, and take it from the first parameter)`,
    ],
    [
      `total += 1;`,
      `3 total: 'total' is captured from outside the function (threads share arrays alone: add total: 'f32[]' to the schema, and write total[0])`,
    ],
    [
      `y[0] = __vi_import_0__.factor(2);`,
      `10 __vi_import_0__: 'factor' is captured from outside the function (make it a device function, add 'factor' to the schema, and take it from the first parameter)`,
    ],
    [
      `y[0] = parseInt(f);`,
      `WS1006 10 parseInt: kernels do not have 'parseInt' (cast numbers: cuda.i32(x), cuda.f32(x))`,
    ],
    [
      `y[0] = new Float32Array(3)[0];`,
      `WS1006 14 Float32Array: kernels do not have 'Float32Array' (arrays come from the schema, cuda.sharedArray and cuda.localArray('f32', 4))`,
    ],
    [
      `arguments[0];`,
      `WS1006 3 arguments: kernels do not have 'arguments' (name the parameters: ({ y, a }, cuda) => { … })`,
    ],
  ],
  WS1003: [
    [`cuda.makePipline();`, `8 makePipline: 'cuda' has no 'makePipline' (did you mean 'makePipeline'?)`],
    [`cuda.__syncthreads();`, `8 __syncthreads: 'cuda' has no '__syncthreads' (did you mean 'syncthreads'?)`],
    [
      `cuda.this_thread_block();`,
      `8 this_thread_block: 'cuda' has no 'this_thread_block' (did you mean 'thisThreadBlock'?)`,
    ],
    [
      `cuda.thisThreadBlock().thread_rank();`,
      `26 thread_rank: a block has no 'thread_rank' (did you mean 'threadRank'?)`,
    ],
    [`Math.sine(f);`, `8 sine: 'Math' has no 'sine' (did you mean 'sin'?)`],
    [
      `cuda.thisGrid().wait();`,
      "19 wait: a grid has no 'wait' (it has sync, isValid, size, numThreads, threadRank, numBlocks, blockRank, blockIndex, dimBlocks, groupDim)",
    ],
    [`y.push(1);`, `5 push: an array has no 'push' (let each thread read and write elements: y[i] = …)`],
    [`y[0] = cuda.threadIdx.w;`, `25 w: 'threadIdx' has no 'w' (it has x, y, z)`],
    [`y[0] = f.x;`, `12 x: a number of type f32 has no member 'x' (numbers have operators and Math.*)`],
    [`cuda.quux;`, `8 quux: 'cuda' has no 'quux' (docs/language.md lists what it has)`],
  ],
  WS1004: [
    [
      `y[0] = (i > 3) === 1 ? 1 : 0;`,
      `10 (i > 3) === 1: '===' compares a bool with the number 1, which are never equal (a bool is a condition by itself: if (flag))`,
    ],
    [
      `y[0] = i + u;`,
      `10 i + u: '+' combines an i32 and a u32 (cast one of them: cuda.i32(…), cuda.u32(…), or cuda.index(…) for both ranges)`,
    ],
    [
      `h[0] = f;`,
      `10 f: an element of 'h' is i32, and is given a number of type f32 (cast it: cuda.i32(…) drops a fraction)`,
    ],
    [
      `h[0] = 0.5;`,
      `10 0.5: an element of 'h' is i32, and is given the number 0.5 (cast it: cuda.i32(…) drops a fraction)`,
    ],
    [
      `y[f] = 1;`,
      `5 f: an index of 'y' must be an integer, and is a number of type f32 (cast it: cuda.index(…) drops a fraction)`,
    ],
    [
      `y[0.5] = 1;`,
      `5 0.5: an index of 'y' must be an integer, and is the number 0.5 (cast it: cuda.index(…) drops a fraction)`,
    ],
    [`y[0] = 'a';`, `10 'a': an element of 'y' must be a number, and is the string 'a' (use a number here)`],
    [
      `y[0] = y;`,
      `10 y: an element of 'y' must be a number, and is the f32 array 'y' (take one of its elements: y[…])`,
    ],
    [
      `y[0] = y + 1;`,
      `10 y: an operand of '+' must be a number, and is the f32 array 'y' (take one of its elements: y[…])`,
    ],
    [
      `if (f === "a") y[0] = 1;`,
      `7 f === "a": a number of type f32 and the string 'a' are never equal (compare a string with a string, and a number with a number)`,
    ],
    [
      `y[0] = i ** i;`,
      `10 i ** i: a power of two integers (i32) need not be one (cast the base: cuda.f32(…) or cuda.f64(…))`,
    ],
    [
      `y[0] = 'n' + n;`,
      `10 'n' + n: kernels do not join strings (print the parts one by one: console.log('sum', sum))`,
    ],
    [
      `let v = i; v = f;`,
      `18 f: 'v' is i32, and is assigned a number of type f32 (cast the value, cuda.i32(…), or let 'v' start as one: cuda.f32(…))`,
    ],
    [
      `h[0] = 3 * 5e9;`,
      `10 3 * 5e9: 15000000000 is not of type i32 (i32 holds -2147483648 to 2147483647; compute in a wider type: cuda.f64(…))`,
    ],
    [
      `let v = 5000000000; v += 1;`,
      `7 v: 5000000000 is not of type i32 (i32 holds -2147483648 to 2147483647; compute in a wider type: cuda.f64(…))`,
    ],
    [
      `y[0] = Math.max(i, u);`,
      `10 Math.max(i, u): Math.max combines an i32 and a u32 (cast one of them: cuda.i32(…), cuda.u32(…), or cuda.index(…) for both ranges)`,
    ],
    [
      `h[0] = i & u;`,
      `10 i & u: a bit operation combines an i32 and a u32 (cast one of them: cuda.i32(…), cuda.u32(…), or cuda.index(…) for both ranges)`,
    ],
    [
      `y[0] = i > 3 ? i : u;`,
      `10 i > 3 ? i : u: this choice combines an i32 and a u32 (cast one of them: cuda.i32(…), cuda.u32(…), or cuda.index(…) for both ranges)`,
    ],
    [
      `cuda.memcpyAsync(h, x, 3, cuda.makePipeline());`,
      `23 x: 'h' holds i32, and 'x' holds f32 (a copy keeps the bits: both arrays must have the same element type)`,
    ],
    [
      `cuda.atomicAdd(b, 0, 1);`,
      `18 b: cuda.atomicAdd does not work on u8 (atomics take arrays of i32, u32, i64 and u64, and cuda.atomicAdd also f32 and f64)`,
    ],
    [
      `cuda.atomicMax(y, 0, 1);`,
      `18 y: cuda.atomicMax does not work on f32 (of the atomics only cuda.atomicAdd takes f32)`,
    ],
    [
      `cuda.atomicAdd(h, 0, f);`,
      `24 f: an element of 'h' is i32, and is given a number of type f32 (cast it: cuda.i32(…) drops a fraction)`,
    ],
    [
      `y[0] = (() => { y[0] = 1; })();`,
      `10 (() => { y[0] = 1; })(): an element of 'y' must be a number, and is undefined (give it a value; a function gives what it returns)`,
    ],
    [
      `scale({ out: h, by: 2 });`,
      `16 h: 'out' of 'scale' is an array of f32, and is given the i32 array 'h' (the element types must be the same)`,
    ],
    [
      `scale({ out: y, by: y });`,
      `23 y: 'by' of 'scale' must be a number, and is the f32 array 'y' (take one of its elements: y[…])`,
    ],
  ],
  WS1005: [
    [
      `y[n / 2] = 1;`,
      `5 n / 2: '/' divides two integers (index), and their quotient need not be one (write Math.trunc(n / 2) for integer division, or cuda.f32(n) / 2)`,
    ],
    [
      `const half = n / 2; y[0] = half;`,
      `16 n / 2: '/' divides two integers (index), and their quotient need not be one (write Math.trunc(n / 2) for integer division, or cuda.f32(n) / 2)`,
    ],
    [
      `h[0] = i / 2 + 1;`,
      `10 i / 2: '/' divides two integers (i32), and their quotient need not be one (write Math.trunc(i / 2) for integer division, or cuda.f32(i) / 2)`,
    ],
    [
      `y[0] = n / c;`,
      `10 n / c: '/' divides two integers (index), and their quotient need not be one (write Math.trunc(n / c) for integer division, or cuda.f32(n) / c)`,
    ],
    [
      `scale({ out: y, by: n / 2 });`,
      `23 n / 2: '/' divides two integers (index), and their quotient need not be one (write Math.trunc(n / 2) for integer division, or cuda.f32(n) / 2)`,
    ],
    [
      `const g = (v) => v; y[0] = g(n / 2);`,
      `32 n / 2: '/' divides two integers (index), and their quotient need not be one (write Math.trunc(n / 2) for integer division, or cuda.f32(n) / 2)`,
    ],
  ],
  WS1006: [
    [`class A {}`, `3 class A {}: kernels do not have classes (use functions and arrays)`],
    [
      `y[0] = f ? x : 1;`,
      `10 f ? x : 1: this is the read-only f32 array 'x' or the number 1, as a condition says (only numbers, vectors, strings and parts of one array can depend on a condition; use an if statement)`,
    ],
    [
      `for (const v of y) y[0] = v;`,
      `3 for (const v of y) y[0] = v;: kernels do not have 'for … of' (count: for (let i = 0; i < a.length; i++))`,
    ],
    [
      `try { y[0] = 1; } catch {}`,
      `3 try { y[0] = 1; } catch {}: kernels do not have 'try' (nothing is thrown in a kernel; a wrong access ends the launch with an error)`,
    ],
    [
      `throw 1;`,
      `3 throw 1;: kernels do not have 'throw' (write a flag to an array, and look at it on the host)`,
    ],
    [`y[0] = this.x;`, `10 this: kernels do not have 'this' (pass what is needed through the schema)`],
    [
      `y[0] = null;`,
      `10 null: kernels do not have null (kernels compute with numbers, bigints and booleans)`,
    ],
    [
      `y[0] = typeof n === "number" ? 1 : 0;`,
      `10 typeof n: kernels do not have 'typeof' (the types in a kernel are known when it is compiled)`,
    ],
    [`y[0] = [...y][0];`, `11 ...y: kernels do not have '...' (write each element)`],
    [`delete y[0];`, `3 delete y[0]: kernels do not have 'delete' (the elements of an array stay; write 0)`],
    [
      `let p = y; p = x;`,
      `18 x: 'p' stands for elements of 'y', and cannot stand for those of 'x' (a variable keeps to one array; use two variables, or one shared array and two offsets)`,
    ],
    [
      `let p = 1; p = y;`,
      `18 y: 'p' holds a number, and cannot be assigned the f32 array 'y' (a variable that changes keeps to one kind of value; use another variable)`,
    ],
    [
      `const p = i > 0 ? y : x;`,
      `13 i > 0 ? y : x: this is a part of 'y' or of 'x', as a condition says (the array must be known when the kernel is compiled; use an if statement, or one array and two offsets)`,
    ],
    [
      `const q = i > 0 ? cuda.thisGrid() : y;`,
      `13 i > 0 ? cuda.thisGrid() : y: this is the grid group or the f32 array 'y', as a condition says (only numbers, vectors, strings and parts of one array can depend on a condition; use an if statement)`,
    ],
    [
      `async () => {};`,
      `3 async () => {}: kernels do not have async functions and generators (use a plain function)`,
    ],
    [`f();`, `3 f(): a number of type f32 cannot be called (it is a value: write it without (…))`],
    [`y[0] = v; const v = 1;`, `10 v: 'v' is used before it is declared (declare it above)`],
    [
      `console.log(i > 0 ? 'a' : 'b');`,
      `3 console.log(i > 0 ? 'a' : 'b'): this prints a string that depends on a condition (print it where the condition is known: if (…) console.log(…))`,
    ],
    [`const t = []; t[i] = 1;`, `9 t: 't' is an empty list (make it an array: cuda.localArray('f32', 4))`],
    [
      `const t = [y, x]; t[i][0] = 1;`,
      `9 t: an element of 't' is chosen when the kernel runs, and one of them is the f32 array 'y' (only lists of numbers can be indexed so; use an if statement)`,
    ],
    [`({ ...y });`, `6 ...y: kernels do not have '...' and accessors in objects (name each member)`],
    [
      `y = x;`,
      `7 x: 'y' stands for elements of 'y', and cannot stand for those of 'x' (a variable keeps to one array; use two variables, or one shared array and two offsets)`,
    ],
  ],
  WS1007: [
    [
      `const r = (v) => r(v); r(1);`,
      `20 r(v): 'r' calls itself (functions are inlined where they are called, so none may call itself: use a loop)`,
    ],
    [
      `const a = (v) => b2(v), b2 = (v) => a(v); a(1);`,
      `39 a(v): 'a' calls 'b2' calls 'a' (functions are inlined where they are called, so none may call itself: use a loop)`,
    ],
  ],
  WS1008: [
    [
      `cuda.sharedArray('f32', cuda.threadIdx.x);`,
      `27 cuda.threadIdx.x: the size of a shared array must be the same for all threads and known at the launch (make it of literals, constants, scalar parameters and the extents of block and grid)`,
    ],
    [
      `let k = 4; k += i; cuda.sharedArray('f32', k);`,
      `46 k: the size of a shared array must be the same for all threads and known at the launch (make it of literals, constants, scalar parameters and the extents of block and grid)`,
    ],
    [
      `cuda.sharedArray('f32', h[0]);`,
      `27 h[0]: the size of a shared array must be the same for all threads and known at the launch (make it of literals, constants, scalar parameters and the extents of block and grid)`,
    ],
    [`cuda.sharedArray('f32', 0);`, `27 0: a shared array cannot have 0 elements (give it at least one)`],
    [
      `cuda.sharedArray('f32', y.length);`,
      `27 y.length: the size of a shared array must be the same for all threads and known at the launch (make it of literals, constants, scalar parameters and the extents of block and grid)`,
    ],
  ],
  WS1009: [
    [
      `const t = [1, 2]; y[0] = t[2];`,
      `30 2: a list of 2 has no element 2 (its elements are counted from 0)`,
    ],
    [
      `cuda.atomicAdd(h, 0);`,
      `3 cuda.atomicAdd(h, 0): cuda.atomicAdd is given 2 arguments (it takes (array, index, value))`,
    ],
    [
      `cuda.sharedArray('f31', 3);`,
      `20 'f31': element of cuda.sharedArray must be one of 'i8' 'u8' 'i16' 'u16' 'i32' 'u32' 'i64' 'u64' 'f16' 'bf16' 'f32' 'f64' 'i32x2' 'i32x4' 'u32x2' 'u32x4' 'f32x2' 'f32x4' 'f64x2', and is the string 'f31' (it takes (element, count))`,
    ],
    [
      `cuda.makePipeline(cuda.thisThread(), cuda.pipelineSharedState("block", 2));`,
      `21 cuda.thisThread(): group of cuda.makePipeline must be a block or a tile, and is the thread group (it takes no arguments or (group, state) or (group, state, role) or (group, state, producers))`,
    ],
    [
      `cuda.pipelineSharedState('block', 0);`,
      `37 0: a pipeline has 1 to 255 stages, and this one 0 (two to four are common)`,
    ],
    [
      `cuda.pipelineSharedState('block', 300);`,
      `37 300: a pipeline has 1 to 255 stages, and this one 300 (two to four are common)`,
    ],
    [
      `cuda.pipelineSharedState('warp', 2);`,
      `28 'warp': scope of cuda.pipelineSharedState must be 'block', 'cluster', 'device' or 'system', and is the string 'warp' (it takes (scope, stages))`,
    ],
    [
      `cuda.pipelineSharedState('thread', 2);`,
      `28 'thread': a pipeline of thread scope has no shared state: the scope is 'block', 'cluster', 'device' or 'system' (a pipeline of the thread's own is made without one: cuda.makePipeline())`,
    ],
    [
      `cuda.makePipeline(cuda.thisThreadBlock(), cuda.pipelineSharedState('block', 2), 'reader');`,
      `83 'reader': role of cuda.makePipeline must be 'producer' or 'consumer', and is the string 'reader' (it takes no arguments or (group, state) or (group, state, role) or (group, state, producers))`,
    ],
    [
      `cuda.makePipeline(cuda.thisThreadBlock(), cuda.pipelineSharedState('block', 2), 64);`,
      `83 64: a pipeline of 64 threads cannot have 64 producers (there must be a producer and a consumer: 1 up to one less than the threads of the group)`,
    ],
    [
      `cuda.tiledPartition(cuda.thisThreadBlock(), 48);`,
      `47 48: a group of 64 threads cannot be cut into tiles of 48 (the size of a tile is a power of two that divides the group)`,
    ],
    [
      `scale(y, 2);`,
      `9 y: the device function 'scale' takes one object, and is given 2 arguments (name the arguments: scale({ out, by, times }))`,
    ],
    [
      `scale({ out: y });`,
      `9 { out: y }: the device function 'scale' is not given 'by' (pass it: scale({ …, by }))`,
    ],
    [
      `scale({ out: y, by: 2, tmies: 3 });`,
      `33 3: the device function 'scale' has no parameter 'tmies' (did you mean 'times'?)`,
    ],
    [
      `scale({ out: 2, by: 2 });`,
      `16 2: 'out' of 'scale' must be an array, and is the number 2 (pass an array)`,
    ],
    [`Math.sqrt();`, `3 Math.sqrt(): Math.sqrt is given 0 arguments (it takes (x))`],
    [`cuda.alignedSize(12, 3);`, `20 12: an alignment must be a power of two, and is 12 (write 4, 8 or 16)`],
    [
      `cuda.localArray('f32', 0);`,
      `26 0: a local array has 1 to 65536 elements, and this one 0 (give it at least one)`,
    ],
  ],
  WS1012: [
    [
      `Math = y;`,
      `3 Math: 'Math' belongs to JavaScript, and cannot be assigned (assign a variable of your own)`,
    ],
    [`x[0] = 1;`, `3 x[0]: 'x' is read-only (declare it without readonly: x: 'f32[]')`],
    [`scale({ out: x, by: 1 });`, `16 x: 'x' is read-only (declare it without readonly: x: 'f32[]')`],
    [`cuda.atomicAdd(x, 0, 1);`, `18 x: 'x' is read-only (declare it without readonly: x: 'f32[]')`],
    [`const k = 1; k = 2;`, `16 k: 'k' is a constant, and cannot be assigned (declare it by let: let k = …)`],
    [
      `y.length = 3;`,
      `3 y.length: 'length' of the f32 array 'y' cannot be assigned (kernels write to elements of arrays, to variables, and to components of vectors in both)`,
    ],
    [
      `cuda.x = 1;`,
      `3 cuda.x: 'x' of 'cuda' itself cannot be assigned (kernels write to elements of arrays, to variables, and to components of vectors in both)`,
    ],
    [
      `cuda.memcpyAsync(x, y, 3, cuda.makePipeline());`,
      `20 x: 'x' is read-only (declare it without readonly: x: 'f32[]')`,
    ],
  ],
  WS1013: [
    [
      `cuda.pipelineSharedState('block', n);`,
      `37 n: stages of cuda.pipelineSharedState must be known when the kernel is compiled (make it of literals, of constants of the schema ('constant index = 2') and of the block's size)`,
    ],
    [
      `cuda.localArray('f32', n);`,
      `26 n: count of cuda.localArray must be known when the kernel is compiled (make it of literals, of constants of the schema ('constant index = 2') and of the block's size)`,
    ],
    [
      `cuda.tiledPartition(cuda.thisThreadBlock(), i);`,
      `47 i: size of cuda.tiledPartition must be known when the kernel is compiled (make it of literals, of constants of the schema ('constant index = 2') and of the block's size)`,
    ],
    [
      `scale({ out: y, by: 1, times: n });`,
      `33 n: 'times' of 'scale' is a constant, and this is not known when the kernel is compiled (pass a literal or a constant of the schema, or declare it as 'index')`,
    ],
  ],
};

test.each(Object.entries(cases))('%s', (code, statements) => {
  const text = `(${parameters}) => {\n${statements.map(([statement]) => `{ ${statement} }`).join('\n')}\n}`;
  const expected = statements.flatMap(([, ...mistakes], line) =>
    mistakes.map((mistake) => {
      const [, other, column, rest] = /^(WS\d+ )?(\d+) (.*)$/s.exec(mistake)!;
      return `${other?.trim() ?? code} ${line + 2}:${column} ${rest}`;
    }),
  );
  expect(mistakesIn(schema, text)).toEqual(expected);
});

test('a coverage tool’s counters are named once', () => {
  expect(mistakesIn(schema, '({ y }) => { cov_1x().f[0]++; cov_1x().s[0]++; y[0] = 1; }')).toEqual([
    "WS1011 1:14 cov_1x: a coverage tool has put its counters (cov_1x) into this function (collect coverage with V8's own (vitest: coverage.provider 'v8'; c8), or leave the file out: /* istanbul ignore file */)",
  ]);
});

test('a name of the schema that is not taken', () => {
  expect(mistakesIn({ y: 'f32[]', a: 'f32' }, '({ y }, cuda) => { y[0] = a; }')).toEqual([
    "WS1002 1:27 a: 'a' is in the schema, but is not taken from the first parameter (take it: ({ y, a }, cuda) => …)",
  ]);
  expect(mistakesIn({ y: 'f32[]' }, '({ y }) => { y[cuda.threadIdx.x] = 1; }')).toEqual([
    "WS1002 1:16 cuda: 'cuda' is captured from outside the function (take the intrinsics as the second parameter: (data, cuda) => …)",
  ]);
  expect(mistakesIn({ y: 'f32[]' }, '({ x }) => { x[0] = 1; }')).toEqual([
    "WS1003 1:4 x: the data of 'kernel' has no 'x' (add it to the schema: x: 'f32', or the type that it has)",
  ]);
});

test('mistakes inside a device function are told at their place, once', () => {
  const half = deviceFunction({ v: 'i32' }, functionOf('({ v }) => {\n  return v / 2;\n}') as () => number);
  const text = '({ h, half }) => { h[0] = half({ v: 1 }); h[1] = half({ v: 2 }); }';
  expect(mistakesIn({ h: 'i32[]', half }, text)).toEqual([
    "WS1005 2:10 v / 2: '/' divides two integers (i32), and their quotient need not be one (write Math.trunc(v / 2) for integer division, or cuda.f32(v) / 2)",
  ]);
});

test('a constant that is not given, or that its type does not hold', () => {
  const kernel = kernelOf({ y: 'f32[]', count: 'constant u32' }, '({ y, count }) => { y[0] = count; }');
  expect(() => compile(kernel)).toThrow("WS1013: the constant 'count' is not given");
  expect(() => compile(kernel, { constants: { count: -1 } })).toThrow(
    "WS1013: the constant 'count' must be an integer from 0 to 4294967295 (u32), and is -1",
  );
  const wide = kernelOf({ n: 'constant index = 3000000000' }, '({ n }) => {}');
  expect(compile(wide, { indexType: 'i64' }).program.body).toEqual([]);
  expect(() => compile(wide)).toThrow('which an index of 32 bits does not hold');
});

test.each([
  [
    'async () => {}',
    "WS1001 1:1 async: 'kernel' is an async function (every thread runs a kernel as a plain function; waiting is done by pipelines and sync())",
  ],
  [
    'function* () {}',
    "WS1001 1:1 function*: 'kernel' is a generator (every thread runs a kernel as a plain function; waiting is done by pipelines and sync())",
  ],
])('%s', (text, mistake) => {
  expect(mistakesIn({}, text)).toEqual([mistake]);
});
