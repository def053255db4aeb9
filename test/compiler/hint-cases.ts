// Statements with a mistake, and the same statement mended as its hint says.
//
// What stands between « and » in the mended one is code of the hint; a hint of words has none. The names are those of
// mistake-schema.ts.

const pipelined = (more: string, copy: string) =>
  `const block = cuda.thisThreadBlock(); const role = block.threadRank() < 32 ? 'producer' : 'consumer'; cuda.pipelined({ group: block, stages: 2, batches: 4, ${more}copy: (b) => (${copy}), use: (s) => { y[0] = s[0]; } });`;

const barriers = 'const bars = cuda.barrierArray(cuda.thisThreadBlock(), 2);';

const committed = (pipeline: string) =>
  `const state = cuda.pipelineSharedState('block', 2); const p = ${pipeline}; cuda.pipelineProducerCommit(p, cuda.barrier(cuda.thisThreadBlock()));`;

/** The statement, its hint, and the statement mended. */
export const hintCases: readonly (readonly [statement: string, hint: string, mended: string])[] = [
  [
    'y[0] = x[i][1];',
    'give it a shape: x.shaped([rows, columns])',
    'const [rows, columns] = [4, 2]; y[0] = «x.shaped([rows, columns])»[i][1];',
  ],
  ['h.fill(3);', 'let each thread read and write elements: h[i] = value', 'const value = 3; «h[i] = value»;'],
  ['y[0] = f[0];', 'write f', 'y[0] = «f»;'],
  ['y();', 'take one of its elements: y[0]', '«y[0]»;'],
  ['f = y(i + 1);', 'write y[i + 1]', 'f = «y[i + 1]»;'],
  [
    'const o = { a: f }; o();',
    'a kernel calls intrinsics, device functions of its schema, and functions that it declares itself',
    'const o = { a: f }; o.a;',
  ],
  [
    'const t = cuda.localArray("f32", 4); h[0] = t.as("i32")[0];',
    "see one of its elements so: cuda.bitcast('i32', t[0])",
    'const t = cuda.localArray("f32", 4); h[0] = «cuda.bitcast(\'i32\', t[0])»;',
  ],
  [
    'const t = cuda.localArray("f64", 4); h[0] = t.as("i32")[0];',
    'arrays of the schema and shared arrays can be seen as other elements',
    'const t = cuda.sharedArray("f64", 4); h[0] = t.as("i32")[0];',
  ],
  [
    'const o = { a: f }; y[0] = o[0];',
    'arrays of the schema, shared and local arrays have',
    'const o = [f]; y[0] = o[0];',
  ],
  [
    'const nothing = () => {}; switch (i) { case nothing(): y[0] = 1; }',
    'give it a value; a function gives what it returns',
    'const nothing = () => 1; switch (i) { case nothing(): y[0] = 1; }',
  ],
  ['if (i < 36893488147419103232n) y[0] = 1;', 'write true', 'if («true») y[0] = 1;'],
  ['if (36893488147419103232n <= i) y[0] = 1;', 'write false', 'if («false») y[0] = 1;'],
  ['if (BigInt(i) !== -36893488147419103232n) y[0] = 1;', 'write true', 'if («true») y[0] = 1;'],
  [
    'const v = cuda.i32x2(i, 2); y[0] = cuda.length(v);',
    'write cuda.f32x2(v.x, v.y)',
    'const v = cuda.i32x2(i, 2); y[0] = cuda.length(«cuda.f32x2(v.x, v.y)»);',
  ],
  [
    'const t = cuda.sharedArray("f32", [4, 4]); t[i] = x;',
    'assign its elements: t[i][0]',
    'const t = cuda.sharedArray("f32", [4, 4]); «t[i][0]» = x[0];',
  ],
  [
    'const t = cuda.sharedArray("f32", [4, 4, 4]); t[1] = x;',
    'assign its elements: t[1][0][0]',
    'const t = cuda.sharedArray("f32", [4, 4, 4]); «t[1][0][0]» = x[0];',
  ],
  [
    'scale({ out: y, by: f, zebra: 1 });',
    'its schema has out, by, times',
    'scale({ out: y, by: f, «times»: 1 });',
  ],
  ["y[0] = 'a'.size;", 'kernels have numbers, arrays, groups, pipelines and barriers', 'y[0] = y.length;'],
  [
    `cuda.assert(f > 0, \`${'$'}{i} ${'$'}{i} ${'$'}{i} ${'$'}{i} ${'$'}{i}\`);`,
    'keep 4 of them; console.log prints any number',
    `cuda.assert(f > 0, \`${'$'}{i} ${'$'}{i} ${'$'}{i} ${'$'}{i}\`);`,
  ],
  [
    'const t = cuda.localArray("f32", [n, 4]); t[0][0] = 1;',
    "make them of literals, of constants of the schema ('constant index = 2') and of the block's size",
    'const t = cuda.localArray("f32", [c, 4]); t[0][0] = 1;',
  ],
  [
    'y[0] = Number(BigInt(i) ** 7n);',
    'write (BigInt(i) ** 4n * BigInt(i) ** 3n)',
    'y[0] = Number(«(BigInt(i) ** 4n * BigInt(i) ** 3n)»);',
  ],
  [
    'y[0] = Number(2n ** BigInt(i + 1));',
    'write (1n << BigInt(i + 1))',
    'y[0] = Number(«(1n << BigInt(i + 1))»);',
  ],
  [
    'y[0] = Number(3n ** BigInt(i));',
    'multiply as often as the exponent says, in a loop',
    'let power = 1n; for (let k = 0; k < i; k++) power *= 3n; y[0] = Number(power);',
  ],
  [
    'const [a, ...rest] = y; f = a + rest[0];',
    'take a part of it: y.subarray(1)',
    'const [a, rest] = [y[0], «y.subarray(1)»]; f = a + rest[0];',
  ],
  [
    'const [...rest] = f; y[0] = rest[0];',
    'lists have a rest, and arrays have subarray(begin)',
    'const [...rest] = [f]; y[0] = rest[0];',
  ],
  [`${barriers} bars[2].arriveAndWait();`, 'write 1', `${barriers} bars[«1»].arriveAndWait();`],
  [`${barriers} bars[-1].arriveAndWait();`, 'write 0', `${barriers} bars[«0»].arriveAndWait();`],
  [
    'y[0] = cuda.shflSync(0xffffffff, f, 0, 12);',
    'write 16',
    'y[0] = cuda.shflSync(0xffffffff, f, 0, «16»);',
  ],
  [
    'y[0] = cuda.shflSync(0xffffffff, f, 0, 64);',
    'write 32',
    'y[0] = cuda.shflSync(0xffffffff, f, 0, «32»);',
  ],
  ['y[0] = cuda.shflSync(0xffffffff, f, 0, 0);', 'write 2', 'y[0] = cuda.shflSync(0xffffffff, f, 0, «2»);'],
  [
    'y[0] = corner({ image: y });',
    'give it a shape: y.shaped([rows, columns])',
    'const [rows, columns] = [4, 2]; y[0] = corner({ image: «y.shaped([rows, columns])» });',
  ],
  [
    'const cube = cuda.sharedArray("f32", [4, 4, 4]); y[0] = corner({ image: cube });',
    'take a part of it: cube[0]',
    'const cube = cuda.sharedArray("f32", [4, 4, 4]); y[0] = corner({ image: «cube[0]» });',
  ],
  [
    'const t = cuda.sharedArray("f32", [2, 8]); y[0] = middle({ cube: t });',
    'give an array of as many dimensions',
    'const t = cuda.sharedArray("f32", [2, 2, 4]); y[0] = middle({ cube: t });',
  ],
  ['h[0] = cuda.brev(1.5);', 'give a whole number, such as 1', 'h[0] = cuda.brev(«1»);'],
  ['h[0] = (i > 0 ? 0.5 : 1) & i;', 'give a whole number, such as 0', 'h[0] = (i > 0 ? «0» : 1) & i;'],
  ['const o = { [f]: 1 }; y[0] = o.a;', 'write { name: value }', 'const o = { a: 1 }; y[0] = o.a;'],
  [
    'y[0] = y.shaped([0, 2])[0][0];',
    'write how many rows there are, and how many elements each has',
    'y[0] = y.shaped([4, 2])[0][0];',
  ],
  [
    'y[0] = cuda.bitcast("u8", f);',
    "write one of 'i32', 'u32', 'f32', 'i64', 'u64', 'f64'",
    "y[0] = cuda.bitcast(«'u32'», f);",
  ],
  ['function g() { return 1; } g = () => 2;', 'use a variable of its own', 'let g = 1; g = 2;'],
  [
    'const a = { q: 1 }; const b = { q: 2 }; const o = i > 0 ? a : b; o.q = 3;',
    'assign it in each branch of an if statement',
    'const a = { q: 1 }; const b = { q: 2 }; if (i > 0) a.q = 3; else b.q = 3;',
  ],
  [
    'let p = { a: f }; const l = [{ a: 1 }, { a: 2 }]; p = l[0]; p.a = 3;',
    'make a new one: { name: value }',
    'let p = { a: f }; const l = [{ a: 1 }, { a: 2 }]; p = { a: l[0].a }; p.a = 3;',
  ],
  [
    committed('cuda.makePipeline(cuda.thisThreadBlock(), state)'),
    "commit to its stages by producerCommit(), or make the thread's own by cuda.makePipeline()",
    committed('«cuda.makePipeline()»'),
  ],
  [
    pipelined('', '3'),
    'give one copy, { source, count }, or several by their names: { a: { source, count }, b: { source, count } }',
    pipelined('', '{ source: x, count: 4 }'),
  ],
  [
    pipelined('producers: 32, ', '{ source: x, count: 4 }'),
    'add by: cuda.thisThread() where each producer copies its own part, or the tile of the producers',
    pipelined('producers: 32, ', '{ source: x, count: 4, «by: cuda.thisThread()» }'),
  ],
  [
    pipelined('role, producers: 32, ', '{ source: x, count: 4, by: cuda.thisThread() }'),
    'with a role each thread says its part; with a number those of the lowest ranks copy',
    pipelined('role, ', '{ source: x, count: 4, by: cuda.thisThread() }'),
  ],
];
