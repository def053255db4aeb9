// Mutations of how lanes load and store what lies evenly apart.

import { mutationsOf } from './mutation.ts';

const strides = ['test/wasm/strided.test.ts'];

export const mutations = [
  ...mutationsOf('src/targets/wasm/simd/strided.ts', strides, [
    {
      name: 'signed bytes of records have no sign in lanes',
      from: "element === 'i8' || element === 'i16'",
      to: "element === 'i16'",
      why: 'negative bytes of records are read as large numbers',
    },
    {
      name: 'a narrow field keeps what lies behind it',
      from: "if (above > 0) code.get(constants.integer(2 ** bits - 1)).op('v128.and');",
      to: '',
      why: 'a byte of a record is read with the bytes behind it',
    },
    {
      name: 'the second half of a row is its first',
      from: 'const order = position < 2 ? low : high;',
      to: 'const order = low;',
      why: 'the third and fourth field of a record are read as the first two',
    },
    {
      name: 'odd fields are even ones',
      from: '.shuffle(position % 2 === 0 ? lowPairs : highPairs);',
      to: '.shuffle(lowPairs);',
      why: 'the second field of a record is read as the first',
    },
    {
      name: 'the last row of short records is not moved back',
      from: 'code.shuffle(Array.from({ length: 16 }, (_, i) => (first + i) % 16));',
      to: 'code.shuffle(Array.from({ length: 16 }, (_, i) => i));',
      why: 'every fourth thread reads fields of the record before its own',
    },
    {
      name: 'pairs of f64 overlap',
      from: 'part.offset + part.stride * (2 * vector + lane);',
      to: 'part.offset + part.stride * (vector + lane);',
      why: 'threads read the f64 of records of others',
    },
    {
      name: 'vectors of records overlap',
      from: 'const at = (lane: number) => begin + stride * (4 * vector + lane);',
      to: 'const at = (lane: number) => begin + stride * (2 * vector + lane);',
      why: 'threads read the records of others',
    },
    {
      name: 'what two vectors load is loaded once',
      from: '`${name} ${address} ${begin} ${stride} ${vector}`',
      to: '`${name} ${address} ${begin} ${stride}`',
      why: 'threads compute with the records of those four before them',
    },
    {
      name: 'spans of one array are one',
      from: '    begin <= part.begin &&\n',
      to: '',
      why: 'elements before a span are taken for its own',
      equivalent:
        'spans are looked through in their order, so that no later one is asked for what lies before it',
    },
  ]),
  ...mutationsOf('src/targets/wasm/simd/interleaved.ts', strides, [
    {
      name: 'a row of three may be stored over a fourth field',
      from: 'beside === 3 && stride === 12 ? 3',
      to: 'beside === 3 ? 3',
      why: 'a vector that is stored into a record overwrites the field behind it',
    },
    {
      name: 'the last row of three is stored like the others',
      from: 'if (w !== undefined || lane < 3) storeAll(lane, row);',
      to: 'if (w !== undefined || lane < 4) storeAll(lane, row);',
      why: 'the last thread of a group overwrites what lies behind its record',
    },
    {
      name: 'three bytes fill a word',
      from: 'if (bytes < 4) {',
      to: 'if (bytes < 3) {',
      why: 'three bytes that are stored into a record overwrite the fourth',
    },
    {
      name: 'numbers that are joined to words keep their upper bits',
      from: "if (at + bits < 32) code.get(constants.integer(2 ** bits - 1)).op('v128.and');",
      to: '',
      why: 'a number that is too large for a byte changes the bytes beside it',
    },
    {
      name: 'pairs of f64 are stored over each other',
      from: 'lane, offset + stride * (2 * vector + lane), 1);',
      to: 'lane, offset + stride * (vector + lane), 1);',
      why: 'threads overwrite the f64 of records of others',
    },
  ]),
  ...mutationsOf('src/targets/wasm/simd/runs.ts', strides, [
    {
      name: 'a value may ask what a store before it changes',
      from: "if (anyOperand(store.value, (each) => each.kind === 'load' || (each.kind === 'binary' && mayFail(each))))\n    return false;",
      to: '',
      why: 'a thread reads what was in memory before its own store',
    },
    {
      name: 'f64 and f32 are stored in one run',
      from: 'if (vectorsOf(first.value.type) !== vectorsOf(store.value.type)) return false;',
      to: '',
      why: 'half of the threads do not store their f64',
    },
    {
      name: 'f64 and f32 are loaded in one run',
      from: 'vectorsOf(statement.value.type) === vectorsOf((first as Assign).value.type),',
      to: 'true,',
      why: 'half of the threads do not load their f64',
    },
    {
      name: 'stores to different arrays are one',
      from: 'arrayKey(first.array) !== arrayKey(store.array) || ',
      to: '',
      why: 'what is for one array is stored into another',
    },
  ]),
  ...mutationsOf('src/targets/wasm/simd/checks.ts', strides, [
    {
      name: 'threads that go by more than one are checked as if they went by one',
      from: 'step * (threads - 1) + 1;',
      to: '(step === 0 ? 1 : threads);',
      why: 'lanes read and write behind an array, and no fault is reported',
    },
    {
      name: 'addresses go on by elements, whatever lies between',
      from: 'threads * step * bytesOf(unit.elementOf(array))',
      to: 'threads * bytesOf(unit.elementOf(array))',
      why: 'all groups of threads but the first access the elements of others',
    },
  ]),
  ...mutationsOf('src/targets/wasm/lane-functions.ts', strides, [
    {
      name: 'some lanes store side by side what lies apart',
      from: '.memory(store, apart * lane);',
      to: '.memory(store, bytes * lane);',
      why: 'where only some threads store a field, others lose theirs',
    },
    {
      name: 'some lanes store f64 side by side that lie apart',
      from: ".memory('i64.store', apart * lane);",
      to: ".memory('i64.store', bytes * lane);",
      why: 'where only some threads store an f64 of a record, others lose theirs',
    },
  ]),
  ...mutationsOf('src/targets/wasm/simd/masked.ts', strides, [
    {
      name: 'some lanes store the first field',
      from: 'const at = offset + part.offset + apart',
      to: 'const at = offset + apart',
      why: 'where only some threads store a field, they store the first',
    },
  ]),
  ...mutationsOf('src/targets/wasm/simd/expressions.ts', strides, [
    {
      name: 'a field that all lanes read is the first',
      from: 'location.offset + part!.offset);',
      to: 'location.offset);',
      why: 'the fields of a record that all threads read are all its first',
    },
  ]),
];
