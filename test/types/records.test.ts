// Records: laid out as C lays them out, whatever their fields are; loaded, stored and copied field by field and as a
// whole; packed and unpacked by the host.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ElementType, kernel, open, type Struct, struct } from 'warpstage';
import { check } from 'warpstage/check';
import { layoutOf, type Part } from '#warpstage/kernel/layout.js';
import { numberBytes, vectorTypes } from '#warpstage/kernel/types.js';
import { kernelOf, mistakesIn, statementsOf } from '../compiler/support.ts';
import { randomRuns } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import { runKernel } from '../support/run-kernel.ts';
import { hasTool } from '../support/tools.ts';
import { wasm, wasmStates } from '../support/wasm.ts';

const elements = [...Object.keys(numberBytes), ...Object.keys(vectorTypes)] as ElementType[];

/** Records of one to five fields, each an element or a record. */
const structs: fc.Arbitrary<Struct> = fc.letrec<{ struct: Struct; field: ElementType | Struct }>((tie) => ({
  struct: fc
    .array(tie('field'), { minLength: 1, maxLength: 5 })
    .map((fields) => struct(Object.fromEntries(fields.map((field, i) => [`f${i}`, field])))),
  field: fc.oneof({ depthSize: 'small', withCrossShrink: true }, fc.constantFrom(...elements), tie('struct')),
})).struct;

const cNames: Readonly<Record<string, string>> = {
  i8: 'signed char',
  u8: 'unsigned char',
  i16: 'short',
  u16: 'unsigned short',
  i32: 'int',
  u32: 'unsigned',
  i64: 'long long',
  u64: 'unsigned long long',
  f16: 'unsigned short',
  bf16: 'unsigned short',
  f32: 'float',
  f64: 'double',
};

/** CUDA's vectors in C: `vector_types.h` aligns those of two and four to their size, up to 16 bytes. */
const vectorsInC = Object.entries(vectorTypes)
  .map(([name, { component, components }]) => {
    const bytes = numberBytes[component] * components;
    const aligned = components === 3 ? '' : `_Alignas(${Math.min(bytes, 16)}) `;
    const members = ['x', 'y', 'z', 'w'].slice(0, components);
    return `typedef struct { ${aligned}${cNames[component]} ${members.join(', ').replace('x', 'x')}; } ${name};`;
  })
  .map((line) => line.replace(/(_Alignas\(\d+\) )([a-z ]+) x, (.*); \}/, '$1$2 x; $2 $3; }'))
  .join('\n');

function inC(type: Struct): string {
  const fields = Object.entries(type.fields).map(([name, field]) =>
    typeof field === 'string' ? `${cNames[field] ?? field} ${name};` : `${inC(field)} ${name};`,
  );
  return `struct { ${fields.join(' ')} }`;
}

test.skipIf(!hasTool('cc'))('the layout is that of C', () => {
  const some = fc.sample(structs, { numRuns: 200, seed: 7 });
  const folder = mkdtempSync(join(tmpdir(), 'warpstage-records-'));
  try {
    const prints = some.map((type, i) => {
      const places = layoutOf(type.element).parts.map(({ name }) => `(int)offsetof(T${i}, ${name})`);
      return `{ typedef ${inC(type)} T${i}; int at[] = { (int)sizeof(T${i}), (int)_Alignof(T${i}), ${places.join(', ')} };
        for (unsigned k = 0; k < sizeof(at) / sizeof(int); k++) printf("%d ", at[k]); printf("\\n"); }`;
    });
    const source = join(folder, 'records.c');
    const main = `int main(void) {\n${prints.join('\n')}\nreturn 0; }`;
    writeFileSync(source, `#include <stdio.h>\n#include <stddef.h>\n${vectorsInC}\n${main}\n`);
    execFileSync('cc', ['-std=c11', '-o', join(folder, 'records'), source]);
    const lines = execFileSync(join(folder, 'records'), { encoding: 'utf8' }).trim().split('\n');
    for (const [i, type] of some.entries()) {
      const { bytes, alignment, parts } = layoutOf(type.element);
      const own = [bytes, alignment, ...parts.map(({ offset }) => offset)];
      expect(lines[i]!.trim().split(' ').map(Number), type.element).toEqual(own);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** Bytes in which every number is one that its type holds. */
function bytesFor(parts: readonly Part[], size: number, count: number): Uint8Array {
  const bytes = new Uint8Array(size * count);
  for (let i = 0; i < count; i += 1) {
    for (const [at, { element, offset }] of parts.entries()) {
      for (let byte = 0; byte < numberBytes[element]; byte += 1) {
        // The exponents of floats stay small.
        const isTop = byte === numberBytes[element] - 1 && /f/.test(element);
        bytes[i * size + offset + byte] = isTop ? 0x3f : (i * 31 + at * 17 + byte * 5 + 1) % 251;
      }
    }
  }
  return bytes;
}

test('records of any fields are staged, kept, and assigned as a whole and part by part', () => {
  fc.assert(
    fc.property(structs, fc.constantFrom(interpreter('eager'), wasm, wasmStates), (type, target) => {
      const { bytes, parts } = layoutOf(type.element);
      const stores = parts.map(({ name }) => `out[begin + t].${name} = own[t % 2].${name};`).join('\n');
      const text = `({ whole, out, x, type }, cuda) => {
        const block = cuda.thisThreadBlock();
        const t = block.threadRank();
        const begin = block.groupIndex().x * block.size();
        const shared = cuda.sharedArray(type, 2 * block.size());
        const own = cuda.localArray(type, 2);
        const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
        pipeline.producerAcquire();
        cuda.memcpyAsync(block, shared.subarray(block.size()), x.subarray(begin), block.size(), pipeline);
        pipeline.producerCommit();
        pipeline.consumerWait();
        own[t % 2] = shared[2 * block.size() - 1 - t];
        shared[t] = own[t % 2];
        const kept = shared[t];
        whole[begin + t] = kept;
        ${stores}
        pipeline.consumerRelease();
      }`;
      const [grid, block] = [2, 5];
      const x = bytesFor(parts, bytes, grid * block);
      const [whole, out] = [new Uint8Array(x.length), new Uint8Array(x.length)];
      const one = kernelOf({ whole: type.array, out: type.array, x: type.readonlyArray, type }, text);
      expect(runKernel(target, one, { grid, block, arguments: { whole, out, x } }).fault).toBeNull();
      const expected = new Uint8Array(x.length);
      for (let i = 0; i < grid * block; i += 1) {
        const from = i - (i % block) + block - 1 - (i % block);
        for (const { element, offset } of parts) {
          const size = numberBytes[element];
          const number = x.subarray(from * bytes + offset, from * bytes + offset + size);
          expected.set(number, i * bytes + offset);
        }
      }
      expect(out).toEqual(expected);
      expect(whole).toEqual(expected);
    }),
    randomRuns(40),
  );
});

const node = struct({ start: 'i32', box: struct({ low: 'f32x3', kind: 'u8' }), id: 'u64' });

describe('the host', () => {
  const records = [1, 2].map((i) => ({
    start: -i,
    box: { low: { x: i, y: i / 2, z: 0.25 }, kind: 200 + i },
    id: 2n ** 63n + BigInt(i),
  }));

  test('packs records and unpacks them, and takes columns apart', () => {
    expect([node.bytes, node.alignment]).toEqual([32, 8]);
    const bytes = node.pack(records);
    expect(node.unpack(bytes)).toEqual(records);
    expect(node.column(bytes, 'box.low')).toEqual(Float32Array.of(1, 0.5, 0.25, 2, 1, 0.25));
    expect(node.column(bytes, 'id')).toEqual(BigUint64Array.of(2n ** 63n + 1n, 2n ** 63n + 2n));
    node.setColumn(bytes, 'box.kind', Uint8Array.of(7, 8));
    expect(node.unpack(bytes).map(({ box }) => box.kind)).toEqual([7, 8]);
    expect(() => node.column(bytes, 'box')).toThrow("'box' is no column: its numbers have several types");
    expect(() => node.pack([{ ...records[0]!, start: 0.5 }])).toThrow(
      "'start' of record 0 must be an integer from -2147483648 to 2147483647 (i32), and is 0.5",
    );
    expect(() => node.unpack(bytes.subarray(1))).toThrow('records of 32 bytes are read from 63 bytes');
  });

  test('any records come back from their bytes', () => {
    fc.assert(
      fc.property(structs, (type) => {
        const { bytes, parts } = layoutOf(type.element);
        const given = bytesFor(parts, bytes, 3);
        const again = type.pack(type.unpack(given));
        expect(again).toEqual(given);
      }),
      randomRuns(60),
    );
  });

  test('moves records between itself and a device, and refuses other types', async () => {
    await using device = await open('cpu');
    const stream = device.createStream();
    const nodes = device.alloc(node, 2);
    const pinned = device.allocPinned(node, 2);
    pinned.array.set(node.pack(records));
    stream.memcpyAsync(nodes, pinned);
    const next = kernel({ nodes: node.array }, ({ nodes }, cuda) => {
      const one = nodes[cuda.threadIdx.x]!;
      nodes[cuda.threadIdx.x]!.id = one.id + 1n;
      nodes[cuda.threadIdx.x]!.box.low.y = one.start;
    });
    stream.launch(next, { grid: 1, block: 2 }, { nodes });
    const bytes = new Uint8Array(2 * node.bytes);
    stream.memcpyAsync(bytes, nodes);
    await stream.synchronize();
    const expected = records.map((one) => ({
      ...one,
      id: one.id + 1n,
      box: { ...one.box, low: { ...one.box.low, y: one.start } },
    }));
    expect(node.unpack(bytes)).toEqual(expected);
    const other = device.alloc(struct({ start: 'i32' }), 2);
    expect(() => stream.launch(next, { grid: 1, block: 2 }, { nodes: other as never })).toThrow(
      `argument \`nodes\` must be a device array of ${node.element}, and is one of {start:i32}`,
    );
    expect(() => stream.memcpyAsync(nodes, new Float32Array(16) as never)).toThrow('WS4004');
    expect(() => device.alloc('{start:i32}' as never, 2)).toThrow('WS4007');
  });
});

test('the checker knows the bytes of a field', () => {
  const pair = struct({ a: 'u8', b: 'u8' });
  const text = (field: string) =>
    `({ x }, cuda) => { if (cuda.threadIdx.x === 0) x[0].a = 1; else x[0].${field} = 2; }`;
  const reported = (field: string) =>
    check(kernelOf({ x: pair.array }, text(field)), {
      grid: 1,
      block: 2,
      arguments: { x: { length: 1 } } as never,
    }).findings.map(({ code }) => code);
  expect(reported('b')).toEqual([]);
  expect(reported('a')).toContain('WS7001');
});

test('a field that was never written is found, though its neighbour was', () => {
  const pair = struct({ a: 'i32', b: 'i32' });
  const text = (field: string) => `({ out, pair }, cuda) => {
    const s = cuda.sharedArray(pair, 2);
    s[cuda.threadIdx.x].a = 1;
    out[cuda.threadIdx.x] = s[cuda.threadIdx.x].${field};
  }`;
  const reported = (field: string) =>
    check(kernelOf({ out: 'i32[]', pair }, text(field)), {
      grid: 1,
      block: 2,
      arguments: { out: { length: 2 } } as never,
    }).findings.map(({ code }) => code);
  expect(reported('a')).toEqual([]);
  expect(reported('b')).toContain('WS7003');
});

test('a program names the fields of a record', () => {
  const text = '({ nodes }) => { nodes[1].box.low = nodes[0].box.low; nodes[0].start += 1; }';
  expect(statementsOf({ nodes: node.array }, text)).toBe(
    [
      'stored = nodes[0].box.low.x',
      'stored.2 = nodes[0].box.low.y',
      'stored.3 = nodes[0].box.low.z',
      'nodes[1].box.low.x = stored',
      'nodes[1].box.low.y = stored.2',
      'nodes[1].box.low.z = stored.3',
      'nodes[0].start = nodes[0].start + 1',
    ].join('\n'),
  );
});

test('mistakes', () => {
  const flat = struct({ start: 'i32', count: 'i32' });
  const schema = { nodes: flat.array, r: flat.readonlyArray, x: 'i32[]' } as const;
  const of = (statement: string) => mistakesIn(schema, `({ nodes, r, x }, cuda) => { ${statement} }`)[0];
  expect(of('nodes[0].begin = 1;')).toContain(
    "a record {start:i32,count:i32} has no 'begin' (it has start, count)",
  );
  expect(of('x[0] = nodes[0].begin;')).toContain("has no 'begin'");
  expect(of('nodes[0] = 1;')).toContain(
    "an element of 'nodes' is a record {start:i32,count:i32}, and is given the number 1 (write one: { start: 0, count: 0 })",
  );
  expect(of('nodes[0] = { start: 1 };')).toContain(
    "an object without 'count' (give it each field once: start, count)",
  );
  expect(of('nodes[0] = { start: 1, count: 2, end: 3 };')).toContain("an object with 'end'");
  expect(of('nodes[0] = { start: 1, count: 0.5 };')).toContain("'count' of an element of 'nodes' is i32");
  expect(of('r[0].start = 1;')).toContain("'r' is read-only");
  expect(of('nodes[0].start.x = 1;')).toContain("'x' of a number of type i32 cannot be assigned");
  expect(() => struct({ a: 'float' as never })).toThrow(
    "field 'a' has the type 'float', which does not exist",
  );
  expect(() => struct({})).toThrow('a record without fields');
});
