// Statements that the kernel language does not have, or has otherwise: what is said of them.
//
// Each statement has its mistakes: `column underlined: message (hint)`, in the code of the group if none is given.
// The names in them are those of the schema in errors.test.ts.

export const mistakesInLanguage: Readonly<Record<string, readonly (readonly string[])[]>> = {
  WS1006: [
    [`class A {}`, `3 class A {}: kernels do not have classes (use functions and arrays)`],
    [
      `class B { static { __name(this, 'B'); } }`,
      `3 class B { static { __name(this, 'B'); } }: kernels do not have classes (use functions and arrays)`,
    ],
    [
      `y[0] = f ? x : 1;`,
      `10 f ? x : 1: this is the read-only f32 array 'x' or the number 1, as a condition says (numbers, vectors, strings, arrays, and lists and objects of them can depend on a condition; use an if statement)`,
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
      `let p = y; p = x; p[0] = 1;`,
      `WS1012 21 p[0]: 'x' is read-only (declare it without readonly: x: 'f32[]')`,
    ],
    [
      `let q = y; q = h;`,
      `WS1004 18 h: this is the f32 array 'y' or the i32 array 'h', as is decided when the kernel runs (arrays of one element type can be chosen so; use an if statement)`,
    ],
    [
      `const l = [1, 2]; const m = i > 0 ? l : h; l[i] = 1;`,
      `31 i > 0 ? l : h: 'l' is a list of numbers, and cannot be chosen among other arrays (make it an array: cuda.localArray('f32', 4))`,
    ],
    [
      `let p = 1; p = y;`,
      `18 y: 'p' holds a number, and cannot be assigned the f32 array 'y' (a variable that changes keeps to one kind of value; use another variable)`,
    ],
    [
      `const p = i > 0 ? y : h;`,
      `WS1004 13 i > 0 ? y : h: this is the f32 array 'y' or the i32 array 'h', as is decided when the kernel runs (arrays of one element type can be chosen so; use an if statement)`,
    ],
    [
      `const q = i > 0 ? cuda.thisGrid() : y;`,
      `13 i > 0 ? cuda.thisGrid() : y: this is the grid group or the f32 array 'y', as a condition says (numbers, vectors, strings, arrays, and lists and objects of them can depend on a condition; use an if statement)`,
    ],
    [
      `async () => {};`,
      `3 async () => {}: kernels do not have async functions and generators (use a plain function)`,
    ],
    [`f();`, `3 f(): a number of type f32 cannot be called (it is a value: write f)`],
    [`y[0] = v; const v = 1;`, `10 v: 'v' is used before it is declared (declare it above)`],
    [
      `console.log(i > 0 ? 'a' : 'b');`,
      `3 console.log(i > 0 ? 'a' : 'b'): this prints a string that depends on a condition (print it where the condition is known: if (…) console.log(…))`,
    ],
    [`const t = []; t[i] = 1;`, `9 t: 't' is an empty list (make it an array: cuda.localArray('f32', 4))`],
    [
      `const t = [y, 1]; t[i][0] = 1;`,
      `9 t: an element of 't' is chosen when the kernel runs, and one of them is the f32 array 'y' (lists of numbers and lists of arrays can be indexed so; use an if statement)`,
    ],
    [`({ ...y });`, `9 y: the f32 array 'y' has no members to copy (name each member)`],
    [
      `const a = { s: f }; let b = a; b.s = 1; b = { s: 2 };`,
      `31 a: this would be a second name for 'a': 'b' is assigned other objects, and members are assigned (kernels have no pointers to objects: copy it, { ...a })`,
    ],
    [
      `let a = { s: f }; a.s = 1; const b = a; a = { s: 2 };`,
      `36 b: this would be a second name for 'a': 'a' is assigned other objects, and members are assigned (kernels have no pointers to objects: copy it, { ...a })`,
    ],
    [
      `const a = { s: f }; a.s = 1; const b = f ? a : { s: 2 }; y[0] = b.s;`,
      `42 f ? a : { s: 2 }: this would be a second name for 'a': a condition chooses it, and members are assigned (kernels have no pointers to objects: copy it, { ...a })`,
    ],
    [
      `let a = { s: f }; a = { t: f };`,
      `25 { t: f }: 'a' holds an object of s, and is assigned one of t (a variable that changes keeps to the members of the first that it is given)`,
    ],
    [
      `let a = [f, 1]; a = [f];`,
      `23 [f]: 'a' holds a list of 2, and is assigned a list of 1 (a variable that changes keeps to the members of the first that it is given)`,
    ],
    [
      `const a = { s: f }; a.t = 1;`,
      `WS1012 23 a.t: 't' of 'a' cannot be assigned (name it where the object is made: { …, t: 0 })`,
    ],
    [`const a = { ...f };`, `18 f: a number of type f32 has no members to copy (name each member)`],
    [
      `y = h;`,
      `WS1004 7 h: this is the f32 array 'y' or the i32 array 'h', as is decided when the kernel runs (arrays of one element type can be chosen so; use an if statement)`,
    ],
  ],
  WS1007: [
    [
      `const r = __name((v) => r(v), 'r'); r(1);`,
      `27 r(v): 'r' calls itself (functions are inlined where they are called, so none may call itself: use a loop)`,
    ],
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
      `3 cuda.atomicAdd(h, 0): cuda.atomicAdd is given 2 arguments (it takes (array, index, value, order?, scope?))`,
    ],
    [
      `cuda.sharedArray('f31', 3);`,
      `20 'f31': element of cuda.sharedArray must be the name of an element type: i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64, or a vector of 2 to 4 of them, such as f32x4, and is the string 'f31' (it takes (element, count) or (element, shape))`,
    ],
    [
      `cuda.makePipeline(cuda.thisThread(), cuda.pipelineSharedState("block", 2));`,
      `21 cuda.thisThread(): group of cuda.makePipeline must be a block, a tile, a coalesced group or a subset of a block, and is the thread group (it takes no arguments or (group, state) or (group, state, role) or (group, state, producers))`,
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
      `47 48: a group of 64 threads cannot be cut into tiles of 48 (the size of a tile is a power of two that divides the group, or for a block is at most 32)`,
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
    [`const k = 1; k = 2;`, `16 k: 'k' is a constant, and cannot be assigned (declare it by let: let k)`],
    [
      `y.length = 3;`,
      `3 y.length: 'length' of the f32 array 'y' cannot be assigned (kernels write to elements of arrays, to variables, and to members of objects and vectors in both)`,
    ],
    [
      `cuda.x = 1;`,
      `3 cuda.x: 'x' of 'cuda' itself cannot be assigned (kernels write to elements of arrays, to variables, and to members of objects and vectors in both)`,
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
