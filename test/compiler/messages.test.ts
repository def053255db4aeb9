// What users write that is wrong, and what they read: message, hint and position.
//
// The words between « and » are those that the error must underline; the message of each stands
// below, in the order of the text. Kernels are given as text, so that they may be as wrong as
// plain JavaScript allows.

import { expect, test } from 'vitest';
import { mistakesIn } from './support.ts';

const schema = { y: 'f32[]', n: 'index' } as const;

const cases: readonly (readonly [what: string, text: string, ...messages: string[]])[] = [
  [
    'a constant beside the kernel',
    '({ y }) => { y[0] = «factor» * 2; }',
    "WS1002: 'factor' is captured from outside the function (add factor: 'f32' or factor: 'constant f32' to the schema, and take it from the first parameter)",
  ],
  [
    'a setting of an imported module',
    '({ y }) => { y[0] = «settings».gain * 2; }',
    "WS1002: 'settings' is captured from outside the function (objects stay on the host: add gain: 'f32' or gain: 'constant f32' to the schema, and take it from the first parameter)",
  ],
  [
    'the same as vitest rewrites it',
    '({ y }) => { y[0] = «__vi_import_0__».settings.gain * 2; }',
    "WS1002: 'settings' is captured from outside the function (objects stay on the host: add gain: 'f32' or gain: 'constant f32' to the schema, and take it from the first parameter)",
  ],
  [
    'an import as vitest rewrites its call',
    '({ y }) => { y[0] = (0, «__vi_import_0__».helper)(y[1]); }',
    "WS1002: 'helper' is captured from outside the function (make it a device function, add 'helper' to the schema, and take it from the first parameter)",
  ],
  [
    'a local variable, misspelt',
    '({ y }) => { const total = y[1]; y[0] = «totl»; }',
    "WS1002: 'totl' is captured from outside the function (did you mean 'total'? if not, add totl: 'f32' or totl: 'constant f32' to the schema, and take it from the first parameter)",
  ],
  [
    'threadIdx as CUDA spells it',
    '({ y }) => { y[«threadIdx».x] = 1; }',
    "WS1002: 'threadIdx' is not known here without 'cuda' (write cuda.threadIdx; cuda is the second parameter)",
  ],
  [
    '__syncthreads as CUDA spells it',
    '({ y }) => { «__syncthreads»(); y[0] = 1; }',
    "WS1002: '__syncthreads' is not known here without 'cuda' (write cuda.syncthreads; cuda is the second parameter)",
  ],
  [
    'this_thread_block as CUDA spells it',
    '({ y }, cuda) => { const block = cuda.«this_thread_block»(); y[block.threadRank()] = 1; }',
    "WS1003: 'cuda' has no 'this_thread_block' (did you mean 'thisThreadBlock'?)",
  ],
  [
    'the time',
    '({ y }) => { y[0] = «Date».now(); }',
    "WS1006: kernels do not have 'Date' (measure on the host, by the events of a stream)",
  ],
  [
    'a random number',
    '({ y }) => { y[0] = Math.«random»(); }',
    "WS1003: 'Math' has no 'random' (make random numbers on the host, or compute them from the thread's rank)",
  ],
  [
    'the schema, one parameter after the other',
    '(y, n, «cuda») => { y[0] = 1; }',
    'WS1006: there are two parameters: the data of the schema, and the intrinsics (take the data from the first: ({ y, n }, cuda) => …)',
  ],
  [
    'an exception',
    "({ y }) => { if (y[0] < 0) throw new «Error»('negative'); }",
    "WS1006: kernels do not have 'Error' (nothing is thrown in a kernel; write a flag to an array, and look at it on the host)",
  ],
  [
    'an object of a class',
    '({ y }) => { const v = new «Vector»(1, 2); y[0] = v.x; }',
    "WS1002: 'Vector' is captured from outside the function (kernels have no objects of classes; keep their numbers in arrays)",
  ],
  [
    'a typed array',
    '({ y }) => { const w = new «Float32Array»(4); y[0] = w[0]; }',
    "WS1006: kernels do not have 'Float32Array' (arrays come from the schema, cuda.sharedArray and cuda.localArray('f32', 4))",
  ],
  [
    'this',
    '({ y }) => { y[0] = «this».gain; }',
    "WS1006: kernels do not have 'this' (pass what is needed through the schema)",
  ],
  ['console.error', '({ y }) => { console.«error»(y[0]); }', "WS1003: 'console' has no 'error' (it has log)"],
  [
    'data that the schema lacks',
    '(data) => { data.y[0] = data.«gain»; }',
    "WS1003: the data of 'kernel' has no 'gain' (add it to the schema: gain: 'f32', or the type that it has)",
  ],
  [
    'an intrinsic taken apart, misspelt',
    '({ y }, { «thisGird» }) => { y[0] = thisGird().size(); }',
    "WS1003: 'cuda' has no 'thisGird' (did you mean 'thisGrid'?)",
  ],
  [
    'the parameters the other way round',
    '(cuda, { «y» }) => { y[cuda.thisGrid().threadRank()] = 1; }',
    "WS1003: 'cuda' has no 'y' (docs/intrinsics.md lists what it has)",
  ],
  [
    'a method that is not called, as an index',
    '({ y }, cuda) => { const i = cuda.thisGrid().threadRank; y[«i»] = 1; }',
    "WS1004: an index of 'y' must be a number, and is the function grid.threadRank (call it: write () after its name)",
  ],
  [
    'a method that is not called, as a statement',
    '({ y }, cuda) => { const block = cuda.thisThreadBlock(); «block.sync»; y[0] = 1; }',
    'WS1009: block.sync is named here, and not called (write () after its name)',
  ],
  [
    'a method that is not called, as a condition',
    '({ y }, cuda) => { if («cuda.thisGrid().threadRank») y[0] = 1; }',
    'WS1004: a condition is the function grid.threadRank, which always holds (call it: write () after its name)',
  ],
  [
    'a group as a number',
    '({ y }, cuda) => { const t = cuda.thisThreadBlock(); y[«t»] = 1; }',
    "WS1004: an index of 'y' must be a number, and is the block group (ask for its size() or threadRank())",
  ],
  [
    'threadIdx as a number',
    '({ y }, cuda) => { y[«cuda.threadIdx»] = 1; }',
    "WS1004: an index of 'y' must be a number, and is 'threadIdx' (take one of its members: x, y, z)",
  ],
  [
    'a property that is called',
    '({ y }, cuda) => { y[«cuda.threadIdx.x()»] = 1; }',
    'WS1006: a number of type index cannot be called (it is a value: write cuda.threadIdx.x)',
  ],
  [
    'half a name of a group',
    '({ y }, cuda) => { y[cuda.thisGrid().«rank»()] = 1; }',
    "WS1003: a grid has no 'rank' (did you mean 'threadRank'?)",
  ],
  [
    'half a name of a pipeline',
    '({ y }, cuda) => { const p = cuda.makePipeline(); p.«acquire»(); y[0] = 1; }',
    "WS1003: a pipeline has no 'acquire' (did you mean 'producerAcquire'?)",
  ],
  [
    'a wait for the whole grid',
    '({ y }, cuda) => { const grid = cuda.thisGrid(); y[0] = 1; «grid.sync()»; }',
    'WS2006: grid.sync() needs a cooperative launch, and this one is not (launch it with { grid, block, cooperative: true }; where grid.isValid() is false, do without)',
  ],
  [
    'state and group the other way round',
    "({ y }, cuda) => { cuda.makePipeline(«cuda.pipelineSharedState('block', 2)», cuda.thisThreadBlock()); }",
    "WS1009: group of cuda.makePipeline must be a block, a tile, a coalesced group or a subset of a block, and is a pipeline's shared state (it takes no arguments or (group, state) or (group, state, role) or (group, state, producers))",
  ],
  [
    'more producers than lanes that a label chooses can be',
    "({ y, n }, cuda) => { const tile = cuda.tiledPartition(cuda.thisThreadBlock(), 1); cuda.makePipeline(cuda.labeledPartition(tile, n), cuda.pipelineSharedState('block', 2), «32»); y[0] = 1; }",
    'WS1009: a pipeline of at most 32 threads cannot have 32 producers (there must be a producer and a consumer: 1 up to one less than the threads of the group)',
  ],
  [
    'a barrier of lanes that expects nobody',
    '({ y, n }, cuda) => { const tile = cuda.tiledPartition(cuda.thisThreadBlock(), 1); cuda.barrier(cuda.labeledPartition(tile, n), «0»); y[0] = 1; }',
    'WS1009: a barrier expects 1 to 1048575 arrivals, and not 0 (count the threads that arrive)',
  ],
  [
    'a promise that is too long for a lane',
    "({ y, n }, cuda) => { const s = cuda.sharedArray('f32', 64); const p = cuda.makePipeline(); cuda.memcpyAsync(cuda.coalescedThreads(), s, y, «cuda.alignedSize(256, 64)», p); p.producerCommit(); p.consumerWait(); y[0] = n; }",
    'WS1009: a copy of a coalesced group is promised to be aligned to 256 bytes, and 128 are the most (promise 16 bytes, which is all that the hardware makes use of: cuda.alignedSize(16, count))',
  ],
  [
    'scope and stages the other way round',
    "({ y }, cuda) => { cuda.pipelineSharedState(«2», 'block'); }",
    "WS1009: scope of cuda.pipelineSharedState must be 'block', 'cluster', 'device' or 'system', and is the number 2 (it takes (scope, stages))",
  ],
  [
    'a copy without a pipeline',
    "({ y }, cuda) => { const s = cuda.sharedArray('f32', 32); «cuda.memcpyAsync(s, y, 32)»; }",
    'WS1009: cuda.memcpyAsync is given 3 arguments (it takes (group, destination, source, count, sync) or (destination, source, count, sync))',
  ],
  [
    'a copy with the pipeline first',
    "({ y }, cuda) => { const s = cuda.sharedArray('f32', 32); const p = cuda.makePipeline(); cuda.memcpyAsync(«p», s, y, 32); }",
    'WS1009: destination of cuda.memcpyAsync must be an array, and is a pipeline (it takes (group, destination, source, count, sync) or (destination, source, count, sync))',
  ],
  [
    'a copy by the grid',
    "({ y }, cuda) => { const s = cuda.sharedArray('f32', 32); const p = cuda.makePipeline(); cuda.memcpyAsync(«cuda.thisGrid()», s, y, 32, p); }",
    'WS1009: group of cuda.memcpyAsync must be a block, a tile, a coalesced group, a subset of a block or a thread, and is the grid group (it takes (group, destination, source, count, sync) or (destination, source, count, sync))',
  ],
  [
    'a copy of one and a half elements',
    "({ y }, cuda) => { const s = cuda.sharedArray('f32', 32); const p = cuda.makePipeline(); cuda.memcpyAsync(s, y, «1.5», p); }",
    'WS1004: count of cuda.memcpyAsync must be an integer, and is the number 1.5 (cast it: cuda.index(1.5) drops a fraction)',
  ],
  [
    'an atomic on a value',
    '({ y }, cuda) => { cuda.atomicAdd(«y[0]», 0, 1); }',
    'WS1009: array of cuda.atomicAdd must be an array, and is a number of type f32 (it takes (array, index, value, order?, scope?))',
  ],
  [
    'an array printed',
    '({ y }) => { console.log(«y»); }',
    "WS1009: parts of console.log must be text, a number or a vector, and is the f32 array 'y' (take one of its elements: y[0])",
  ],
  [
    'too few arguments',
    '({ y }) => { y[0] = «Math.pow(y[1])»; }',
    'WS1009: Math.pow is given one argument (it takes (x, y))',
  ],
  [
    'too many arguments',
    '({ y }) => { y[0] = «Math.sqrt(y[1], 2)»; }',
    'WS1009: Math.sqrt is given 2 arguments (it takes (x))',
  ],
  [
    'half an index and one',
    '({ y }, cuda) => { y[0] = «cuda.threadIdx.x / 2» + 1; }',
    "WS1005: '/' divides two integers (index), and their quotient need not be one (write Math.trunc(cuda.threadIdx.x / 2) for integer division, or cuda.f32(cuda.threadIdx.x) / 2 for a float)",
  ],
  [
    'two dimensions, read',
    '({ y }) => { y[0] = «y[1][2]»; }',
    'WS1006: a number of type f32 has no elements (give it a shape: y.shaped([rows, columns]))',
  ],
  [
    'two dimensions, written',
    '({ y }) => { «y[0][1]» = 2; }',
    'WS1006: a number of type f32 has no elements (give it a shape: y.shaped([rows, columns]))',
  ],
  [
    'an array method',
    '({ y }) => { y.«fill»(0); }',
    "WS1003: an array has no 'fill' (let each thread read and write elements: y[i] = value)",
  ],
  [
    'a callback',
    '({ y }) => { y.«map»((v) => v * 2); }',
    "WS1003: an array has no 'map' (let each thread read and write elements: y[i] = value)",
  ],
  [
    'a vector’s member',
    '({ y }) => { y[0] = y[1].«x»; }',
    "WS1003: a number of type f32 has no member 'x' (numbers have operators and Math.*)",
  ],
  [
    'a result returned',
    '({ y }, cuda) => { const i = cuda.thisGrid().threadRank(); return «y[i] * 2»; }',
    'WS1006: a kernel gives no value back (write it to an array: y[i] = value)',
  ],
  [
    'a result as the body',
    '({ y }) => «y[0] * 2»',
    'WS1006: a kernel gives no value back (write it to an array: y[i] = value)',
  ],
  [
    'a regular expression',
    '({ y }) => { y[0] = «/a/».test(y[1]); }',
    'WS1006: kernels do not have regular expressions (kernels compute with numbers, bigints and booleans)',
  ],
  [
    'an element asked for by in',
    '({ y }) => { if («0 in y») y[0] = 1; }',
    "WS1006: kernels do not have the operator 'in' (kernels compute with numbers and arrays; objects and classes stay on the host)",
  ],
  [
    'keys',
    '({ y }) => { «for (const k in y) y[k] = 1;» }',
    "WS1006: kernels do not have 'for … in' (count: for (let i = 0; i < a.length; i++))",
  ],
  [
    'an accessor',
    '({ y }) => { const o = { «get a() { return 1; }» }; y[0] = o.a; }',
    'WS1006: kernels do not have accessors in objects (name each member)',
  ],
  [
    'a number switched by strings',
    "({ y }) => { switch (y[0]) { case «'a'»: y[0] = 1; } }",
    "WS1004: a number of type f32 and the string 'a' are never equal (compare a string with a string, and a number with a number)",
  ],
  [
    'a function that changes',
    '({ y }) => { let f = (x) => x; f = «(x) => x * 2»; y[0] = f(1); }',
    "WS1006: 'f' holds something that is no number, and cannot be assigned a function (a variable that changes keeps to one kind of value; use another variable)",
  ],
  [
    'a function that depends on a value',
    '({ y }) => { const f = «y[0] > 1 ? Math.sin : Math.cos»; y[0] = f(1); }',
    'WS1006: this is the function Math.sin or the function Math.cos, as a condition says (numbers, vectors, strings, arrays, and lists and objects of them can depend on a condition; use an if statement)',
  ],
  [
    'a pipeline that depends on a value',
    '({ y }, cuda) => { const p = «y[0] > 1 ? cuda.makePipeline() : cuda.makePipeline()»; p.producerCommit(); }',
    'WS1006: this is a pipeline or a pipeline, as a condition says (numbers, vectors, strings, arrays, and lists and objects of them can depend on a condition; use an if statement)',
  ],
  [
    'a function that gives now an array and now a number',
    '({ y }) => { const f = () => { if (y[1] > 1) return y; return «1»; }; y[0] = «f()»; }',
    "WS1006: 'result' holds an array, and cannot be assigned the number 1 (a variable that changes keeps to one kind of value; use another variable)",
    "WS1004: an element of 'y' must be a number, and is the f32 array 'y' (take one of its elements: y[0])",
  ],
  [
    'several lines',
    '({ y }, cuda) => {\n  const i = cuda.thisGrid().threadRank();\n  if (i < y.length) {\n    y[i] = «scale» *\n      y[i];\n  }\n}',
    "WS1002: 'scale' is captured from outside the function (add scale: 'f32' or scale: 'constant f32' to the schema, and take it from the first parameter)",
  ],
  [
    'mistakes in several places',
    '({ y, n }, cuda) => {\n  y[«n / 2»] = 1;\n  y.«push»(2);\n  «for (const v of y) y[0] += v;»\n}',
    "WS1005: '/' divides two integers (index), and their quotient need not be one (write Math.trunc(n / 2) for integer division)",
    "WS1003: an array has no 'push' (let each thread read and write elements: y[i] = value)",
    "WS1006: kernels do not have 'for … of' (count: for (let i = 0; i < a.length; i++))",
  ],
];

test.each(cases)('%s', (_, marked, ...messages) => {
  const text = marked.replaceAll(/[«»]/g, '');
  const expected = [...marked.matchAll(/«([^»]*)»/g)].map(({ 1: words, index }, i) => {
    const before = marked.slice(0, index).replaceAll(/[«»]/g, '').split('\n');
    const [, code, message] = /^(WS\d+): (.*)$/.exec(messages[i]!)!;
    return `${code} ${before.length}:${before.at(-1)!.length + 1} ${words}: ${message}`;
  });
  expect(expected).toHaveLength(messages.length);
  expect(mistakesIn(schema, text)).toEqual(expected);
});
