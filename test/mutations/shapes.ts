// Mutations of arrays of several dimensions: each index against its own extent, rows at their pitch, and lanes that check all
// of theirs together.

import { mutationsOf } from './mutation.ts';

const extents = ['test/wasm/extents.test.ts'];

export const mutations = [
  ...mutationsOf('src/targets/wasm/simd/limits.ts', extents, [
    {
      name: 'lanes check no extents',
      from: 'return [...dimensionsOf(access), {',
      to: 'return [{',
      why: 'a vector reads the next row where a column is outside, and no fault is reported',
    },
    {
      name: 'lanes check the extents alone',
      from: 'if (fits) return dimensionsOf(access);',
      to: 'if (access.bounds) return dimensionsOf(access);',
      why: 'a shape that a kernel gives an array may reach over its end, and vectors read there',
    },
  ]),
  ...mutationsOf('src/targets/wasm/simd/checkpoints.ts', extents, [
    {
      name: 'a check of some of an index is one of all of it',
      from: 'if (!planned.includes(null) && this.#addressAt(',
      to: 'if (planned.some((each) => each !== null) && this.#addressAt(',
      why: 'vectors access elements outside of a dimension whose index cannot be checked beforehand',
    },
    {
      name: 'lanes one by one check no dimension',
      from: 'if (open.length > 0) this.#open.set(access, open);',
      to: '',
      why: 'a computed index of a dimension reaches another row, and no fault is reported',
    },
    {
      name: 'a check is for the extent that another of its family has',
      from: 'familyKey(`${keyOf(limit)} ${step}`, common',
      to: 'familyKey(`${step}`, common',
      why: 'an index is tested against the extent of another array',
    },
    {
      name: 'indices that are the same for lanes are checked with those that grow',
      from: '`${keyOf(limit)} ${step}`',
      to: '`${keyOf(limit)}`',
      why: 'the last lane is not checked where the first is',
      equivalent:
        'an index that grows has the thread in it, and one that is the same has not, so their keys differ',
    },
    {
      name: 'the first lane checks a thread\u2019s own array for all',
      from: 'if (!dimensionsOf(place).every(isAlike)) this.#complete = false;',
      to: '',
      why: 'threads whose index of a dimension is outside read what is not theirs',
    },
  ]),
  ...mutationsOf('src/targets/wasm/simd/lanes.ts', extents, [
    {
      name: 'an index that grows by more than one is checked as one that grows by one',
      from: 'limit: known, step };',
      to: 'limit: known, step: Math.min(step, 1) };',
      why: 'the last lanes read outside of a dimension',
    },
    {
      name: 'an extent of the first lane is that of all',
      from: ' || !this.isUniform(limit)) return null;',
      to: ') return null;',
      why: 'threads are checked against what another one computed',
    },
    {
      name: 'an index that grows is checked for the first lane alone',
      from: 'limit: known, step };',
      to: 'limit: known, step: 0 };',
      why: 'all lanes but the first read outside of a dimension',
    },
  ]),
  ...mutationsOf('src/targets/wasm/simd/checks.ts', extents, [
    {
      name: 'a group may begin at one place more',
      from: 'right: integer(limit, extent - 1)',
      to: 'right: integer(limit, extent - 2)',
      why: 'the last lane reads behind a dimension',
    },
    {
      name: 'an array that is shorter than a group has room for one',
      from: "operator: 'max', left, right: integer(limit, 0)",
      to: "operator: 'max', left, right: integer(limit, 1)",
      why: 'vectors read over the end of a dimension of few elements',
    },
    {
      name: 'addresses stay where the first group of a row begins',
      from: 'if (step === 0) continue;',
      to: 'continue;',
      why: 'threads access the elements of the first of their row',
    },
  ]),
  ...mutationsOf('src/compiler/shapes.ts', extents, [
    {
      name: 'a part of a row is inside because the row is',
      from: 'const { dimensions, bounds: _, fits: __, ...plain } = view;',
      to: 'const { dimensions, bounds: _, ...plain } = view;',
      why: 'a shape that a kernel gives a part of an image may reach over its end, and nothing is tested',
    },
    {
      name: 'rows lie side by side whatever their pitch',
      from: 'outward === 0 && pitch !== null ? pitch : extent',
      to: 'extent',
      why: 'rows of a shape that a kernel gives are read from where others are',
      tests: ['test/compiler/shapes.test.ts', 'test/conformance/conformance.test.ts'],
    },
    {
      name: 'an extent may be negative',
      from: "return binary('max', extent, zero, lowering.range(node));",
      to: 'return extent;',
      why: 'every index is below a negative extent, as an unsigned number',
      tests: ['test/compiler/shapes.test.ts', ...extents],
    },
  ]),
  ...mutationsOf(
    'src/compiler/specialise.ts',
    ['test/runtime/shaped-parameters.test.ts'],
    [
      {
        name: 'rows of a parameter lie side by side',
        from: '{ extent: rows, pitch },',
        to: '{ extent: rows, pitch: columns },',
        why: 'images whose rows begin further from each other are read from wrong places',
      },
      {
        name: 'planes lie as far from each other as rows',
        from: "pitch: binary('multiply', rows, pitch, rows.range)",
        to: 'pitch',
        why: 'arrays of three dimensions are read from their first plane',
      },
      {
        name: 'columns are checked against the rows',
        from: '{ extent: columns, pitch: one }',
        to: '{ extent: rows, pitch: one }',
        why: 'what lies outside of a wide image is found where it is inside, and not where it is outside',
      },
    ],
  ),
  ...mutationsOf(
    'src/kernel/shaped.ts',
    ['test/runtime/shaped-parameters.test.ts'],
    [
      {
        name: 'the last row of a shape may be outside',
        from: '(rows - 1) * between + columns',
        to: '(rows - 1) * between',
        why: 'a launch takes a shape that is larger than its array, and no index is tested against the array',
      },
      {
        name: 'rows may overlap',
        from: 'if (!isExtent(between) || between < columns) {',
        to: 'if (!isExtent(between)) {',
        why: 'a launch takes a pitch that is shorter than a row',
      },
    ],
  ),
  ...mutationsOf('src/targets/wasm/simd/separate.ts', extents, [
    {
      name: 'every lane checks the index of the first',
      from: "else code.get(vector).lane('i32x4.extract_lane', lane);",
      to: "else code.get(vector).lane('i32x4.extract_lane', 0);",
      why: 'three in four threads access other rows than they may',
    },
  ]),
  ...mutationsOf('src/targets/wasm/simd/group.ts', extents, [
    {
      name: 'two accesses at one place of memory are checked once',
      from: '${[index, ...bounds].map(keyOf).join()}',
      to: '${keyOf(index)}',
      why: 'an index beyond a row is not found where another row begins there',
    },
    {
      name: 'a thread\u2019s own array has no extents in lanes',
      from: 'writeBoundsCheck(first, access, by, (each) => pushExpression(first, each));',
      to: '',
      why: 'an index beyond a row of a local array reads the next row',
    },
  ]),
  ...mutationsOf('src/targets/analysis/uniformity.ts', extents, [
    {
      name: 'what is read at one place is checked for one thread',
      from: 'return operandsOf(expression).every((operand) => madeOfSame(operand, extents, varying, changing));\n    }',
      to: 'return madeOfSame(expression.index, extents, varying, changing);\n    }',
      why: 'where rows lie at one place, threads whose row is outside are not found',
    },
  ]),
  ...mutationsOf(
    'src/targets/wasm/memory.ts',
    ['test/runtime/shaped-parameters.test.ts', ...extents],
    [
      {
        name: 'an index may be the extent',
        from: 'code.get(index).get(extent).op(`${indexType}.ge_u`);',
        to: 'code.get(index).get(extent).op(`${indexType}.gt_u`);',
        why: 'the first element behind a dimension is read, and no fault is reported',
      },
      {
        name: 'a negative index is below every extent',
        from: 'code.get(index).get(extent).op(`${indexType}.ge_u`);',
        to: 'code.get(index).get(extent).op(`${indexType}.ge_s`);',
        why: 'elements before a dimension are read, and no fault is reported',
      },
      {
        name: 'the last dimension is not checked',
        from: 'for (let at = 0; at < bounds.length; at += 2) {',
        to: 'for (let at = 0; at < bounds.length - 2; at += 2) {',
        why: 'columns reach into the next row',
      },
      {
        name: 'an error names the dimension before',
        from: 'dimension: at / 2 + 1 }',
        to: 'dimension: at / 2 }',
        why: 'an error says that the row is outside where the column is',
      },
    ],
  ),
];
