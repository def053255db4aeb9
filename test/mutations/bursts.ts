// Mutations of loops whose turns go in bursts, and of how many vectors are under way.

import { mutationsOf } from './mutation.ts';

const bursts = ['test/wasm/bursts.test.ts'];

export const mutations = [
  ...mutationsOf('src/targets/wasm/simd/bursts.ts', bursts, [
    {
      name: 'bursts begin whatever is left',
      from: '.i32(turnsOfBurst - 1)',
      to: '.i32(0)',
      why: 'threads go on over the count of their loop',
    },
    {
      name: 'all turns are single where none is left for a burst, or none is',
      from: "op('i32.gt_u', 'select')",
      to: "op('i32.lt_u', 'select')",
      why: 'a loop of three turns has eight',
    },
    {
      name: 'vectors go one after the other through what they share',
      from: '(id) => lanes.varies(id) || !read.has(id)',
      to: '() => true',
      why: 'threads find what they share changed by a turn that they have not made',
    },
    {
      name: 'loads go in bursts',
      from: "each.kind === 'load' ||",
      to: '',
      why: 'an element is read in turns that no thread makes',
    },
  ]),
  ...mutationsOf('src/targets/wasm/simd/flight.ts', bursts, [
    {
      name: 'a loop has registers for what others load',
      from: "if (statement.kind === 'loop') continue;",
      to: '',
      why: 'half of the vectors are under way where a loop around another one loads',
    },
    {
      name: 'halves have as many vectors under way as whole numbers',
      from: 'hasNarrowAlone(lanes, body) ? 8 : 4',
      to: 'hasNarrowAlone(lanes, body) ? 4 : 4',
      why: 'half as many threads of a kernel on bytes go together',
      tests: ['test/native/halves.test.ts'],
    },
    {
      name: 'loops go in bursts that gain nothing by it',
      from: 'vectors > vectorsFor(lanes, carriedBy(loop))',
      to: 'vectors > 0',
      why: 'loops with few turns make some in vain',
    },
  ]),
  ...mutationsOf('src/targets/wasm/simd/rounds.ts', bursts, [
    {
      name: 'a limit below the start is far above it',
      from: "op('i32.gt_s', 'select')",
      to: "op('i32.gt_u', 'select')",
      why: 'a loop whose limit is negative goes round',
    },
    {
      name: 'steps of two are counted as steps of one up to a limit of the launch',
      from: 'limit === null ? by !== 1 :',
      to: 'limit === null ? false :',
      why: 'threads go on over the count of their loop',
    },
    {
      name: 'a limit that a loop changes counts its turns',
      from: 'isInvariant(each.right, assigned) && ',
      to: '',
      why: 'threads go on behind a limit that has come nearer',
    },
  ]),
  ...mutationsOf('src/targets/wasm/simd/group.ts', bursts, [
    {
      name: 'a vector of doubles is written as half of two others',
      from: '(only ?? 0) * each + position',
      to: '(only ?? 0) + position',
      why: 'threads of a burst get the f64 of others',
    },
  ]),
  ...mutationsOf('src/targets/wasm/simd/expressions.ts', bursts, [
    {
      name: 'whatever a float is multiplied by, it is doubled',
      from: 'if (constantOf(factor) !== 2) return false;',
      to: 'if (constantOf(factor) === null) return false;',
      why: 'half of a number is twice it',
    },
  ]),
];
