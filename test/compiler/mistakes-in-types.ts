// Statements with names that are not there and types that do not fit: what is said of them.
//
// Each statement has its mistakes: `column underlined: message (hint)`, in the code of the group if none is given.
// The names in them are those of the schema in errors.test.ts.

export const mistakesInTypes: Readonly<Record<string, readonly (readonly string[])[]>> = {
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
    [`y.push(1);`, `5 push: an array has no 'push' (let each thread read and write elements: y[i] = value)`],
    [`y[0] = cuda.threadIdx.w;`, `25 w: 'threadIdx' has no 'w' (it has x, y, z)`],
    [`y[0] = f.x;`, `12 x: a number of type f32 has no member 'x' (numbers have operators and Math.*)`],
    [`cuda.quux;`, `8 quux: 'cuda' has no 'quux' (docs/intrinsics.md lists what it has)`],
  ],
  WS1004: [
    [
      `y[0] = (i > 3) === 1 ? 1 : 0;`,
      `10 (i > 3) === 1: '===' compares a bool with the number 1, which are never equal (a bool is a condition by itself: if (flag))`,
    ],
    [
      `y[0] = i + u;`,
      `10 i + u: '+' combines an i32 and a u32 (cast one of them: cuda.u32(i) or cuda.i32(u))`,
    ],
    [
      `h[0] = f;`,
      `10 f: an element of 'h' is i32, and is given a number of type f32 (cast it: cuda.i32(f) drops a fraction)`,
    ],
    [
      `h[0] = 0.5;`,
      `10 0.5: an element of 'h' is i32, and is given the number 0.5 (cast it: cuda.i32(0.5) drops a fraction)`,
    ],
    [
      `y[f] = 1;`,
      `5 f: an index of 'y' must be an integer, and is a number of type f32 (cast it: cuda.index(f) drops a fraction)`,
    ],
    [
      `y[0.5] = 1;`,
      `5 0.5: an index of 'y' must be an integer, and is the number 0.5 (cast it: cuda.index(0.5) drops a fraction)`,
    ],
    [`y[0] = 'a';`, `10 'a': an element of 'y' must be a number, and is the string 'a' (use a number here)`],
    [
      `y[0] = y;`,
      `10 y: an element of 'y' must be a number, and is the f32 array 'y' (take one of its elements: y[0])`,
    ],
    [
      `y[0] = y + 1;`,
      `10 y: an operand of '+' must be a number, and is the f32 array 'y' (take one of its elements: y[0])`,
    ],
    [
      `if (f === "a") y[0] = 1;`,
      `7 f === "a": a number of type f32 and the string 'a' are never equal (compare a string with a string, and a number with a number)`,
    ],
    [
      `y[0] = i ** i;`,
      `10 i ** i: a power of two integers (i32) need not be one (cast the base: cuda.f32(i))`,
    ],
    [
      `y[0] = 'n' + n;`,
      `10 'n' + n: kernels do not join strings (print the parts one by one: console.log('sum', sum))`,
    ],
    [
      `let v = i; v = f;`,
      `18 f: 'v' is i32, and is assigned a number of type f32 (cast the value: cuda.i32(f), or let 'v' start as f32)`,
    ],
    [
      `h[0] = 3 * 5e9;`,
      `10 3 * 5e9: 15000000000 is not of type i32 (i32 holds -2147483648 to 2147483647; compute in a wider type, f64)`,
    ],
    [
      `let v = 5000000000; v += 1;`,
      `11 5000000000: 5000000000 is not of type i32 (i32 holds -2147483648 to 2147483647; compute in a wider type, f64)`,
    ],
    [
      `y[0] = Math.max(i, u);`,
      `10 Math.max(i, u): Math.max combines an i32 and a u32 (cast one of them: cuda.u32(i) or cuda.i32(u))`,
    ],
    [
      `y[0] = i > 3 ? i : u;`,
      `10 i > 3 ? i : u: this choice combines an i32 and a u32 (cast one of them: cuda.u32(i) or cuda.i32(u))`,
    ],
    [
      `cuda.memcpyAsync(h, x, 3, cuda.makePipeline());`,
      `23 x: 'h' holds i32, and 'x' holds f32 (a copy keeps the bits: both arrays must have the same element type)`,
    ],
    [
      `cuda.atomicAdd(b, 0, 1);`,
      `18 b: cuda.atomicAdd does not work on u8 (atomics take arrays of i32, u32, i64 and u64; cuda.atomicAdd, atomicExch and atomicCAS also f32 and f64)`,
    ],
    [
      `cuda.atomicMax(y, 0, 1);`,
      `18 y: cuda.atomicMax does not work on f32 (of the atomics cuda.atomicAdd, atomicExch and atomicCAS take f32)`,
    ],
    [
      `cuda.atomicAdd(h, 0, f);`,
      `24 f: an element of 'h' is i32, and is given a number of type f32 (cast it: cuda.i32(f) drops a fraction)`,
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
      `23 y: 'by' of 'scale' must be a number, and is the f32 array 'y' (take one of its elements: y[0])`,
    ],
  ],
  WS1005: [
    [
      `y[n / 2] = 1;`,
      `5 n / 2: '/' divides two integers (index), and their quotient need not be one (write Math.trunc(n / 2) for integer division)`,
    ],
    [
      `const half = n / 2; y[0] = half;`,
      `16 n / 2: '/' divides two integers (index), and their quotient need not be one (write Math.trunc(n / 2) for integer division, or cuda.f32(n) / 2 for a float)`,
    ],
    [
      `h[0] = i / 2 + 1;`,
      `10 i / 2: '/' divides two integers (i32), and their quotient need not be one (write Math.trunc(i / 2) for integer division, or cuda.f32(i) / 2 for a float)`,
    ],
    [
      `b[0] = n / c;`,
      `10 n / c: '/' divides two integers (index), and their quotient need not be one (write Math.trunc(n / c) for integer division)`,
    ],
    [
      `b[0] = f;`,
      `WS1004 10 f: an element of 'b' is u8, and is given a number of type f32 (cast it: cuda.u8(f) drops a fraction)`,
    ],
    [
      `h[0] /= i - 1;`,
      `3 h[0] /= i - 1: '/' divides two integers (i32), and their quotient need not be one (write h[0] = Math.trunc(h[0] / (i - 1)) for integer division)`,
    ],
    [
      `const g = (v) => v; y[0] = g(n / 2);`,
      `32 n / 2: '/' divides two integers (index), and their quotient need not be one (write Math.trunc(n / 2) for integer division, or cuda.f32(n) / 2 for a float)`,
    ],
  ],
};
