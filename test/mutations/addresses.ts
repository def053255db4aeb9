// Mutations of addresses of 64 bits: of arrays in a memory of more than 4 GiB.

import { mutationsOf } from './mutation.ts';

const beyond = ['wide:test/runtime/beyond-4-gib.test.ts'];
const elsewhere = 'an address is that of another byte';

export const mutations = [
  ...mutationsOf('src/targets/wasm/memory64.ts', beyond, [
    {
      name: 'what a store takes is not looked below',
      from: 'this.#pop(valuesOfMemory(instruction.name));\n        this.#popAddress();',
      to: 'this.#pop(valuesOfMemory(instruction.name));\n        this.#pop();',
      why: 'no engine takes the module',
    },
  ]),
  ...mutationsOf(
    'src/targets/wasm/unit.ts',
    [],
    [
      {
        name: 'places of slots are as near as addresses of 32 bits',
        from: 'this.reserveScratch(addressBytes(this) * each.slots)',
        to: 'this.reserveScratch(4 * each.slots)',
        why: 'a slot is where another array is',
        tests: ['wide:test/wasm/borrow.test.ts'],
      },
    ],
  ),
  ...mutationsOf('src/targets/wasm/simd/checks.ts', beyond, [
    {
      name: 'addresses of 64 bits go on with a loop',
      from: "if (unit.does('advance') && type === 'i32') {",
      to: "if (unit.does('advance')) {",
      why: 'where an index has wrapped, what lies 4 GiB further is written to',
    },
  ]),
  ...mutationsOf('src/targets/wasm/launch-values.ts', beyond, [
    {
      name: 'the bytes of an array are counted by 32 bits',
      from: "if (indexType === 'i32' && this.#unit.addressType === 'i32') {",
      to: "if (indexType === 'i32') {",
      why: 'an array that is seen as other elements has another length',
    },
  ]),
  ...mutationsOf('src/runtime/launch-record.ts', beyond, [
    {
      name: 'addresses of a record have 32 bits',
      from: 'view.setBigUint64(slot, BigInt(first), true);',
      to: 'view.setUint32(slot, first, true);',
      why: elsewhere,
    },
    {
      name: 'lengths of a record have 32 bits',
      from: 'view.setBigUint64(slot + 8, BigInt(second), true);',
      to: 'view.setUint32(slot + 8, second, true);',
      why: 'a kernel does not reach the end of an array',
    },
  ]),
  ...mutationsOf('src/runtime/cpu/linear-memory.ts', beyond, [
    {
      name: 'a launch has its place among the arrays',
      from: 'return this.#allocate(this.#low, bytes);',
      to: 'return this.#allocate(this.allocator, bytes);',
      why: 'threads find their own data by half of an address',
    },
    {
      name: 'memory with addresses of 64 bits does not grow',
      from: 'memory.grow(BigInt(pages) as never);',
      to: '',
      why: 'an array has no memory',
    },
    {
      name: 'what is given back is taken for an array',
      from: '(address < arraysBegin ? this.#low : this.allocator).free(address);',
      to: 'this.allocator.free(address);',
      why: 'a larger launch is an error',
    },
  ]),
  ...mutationsOf('src/targets/native/prelude.ts', beyond, [
    {
      name: 'copies of compiled code have places of 32 bits',
      from: "${addressType === 'i64' ? 'uint64_t' : 'uint32_t'} ws_address",
      to: 'uint32_t ws_address',
      why: elsewhere,
    },
  ]),
];
