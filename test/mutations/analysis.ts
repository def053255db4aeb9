// Mutations of `targets/analysis`: what is known of a program before it runs.

import { lanes } from './lanes.ts';
import { mutationsOf } from './mutation.ts';

const cohorts = ['test/core/cohort-ways.test.ts', 'test/core/cohorts.test.ts'];

export const mutations = [
  ...mutationsOf(
    'src/targets/analysis/elements.ts',
    ['test/analysis/affine.test.ts'],
    [
      {
        name: 'literals of 64 bits are taken as the nearest number',
        from: "return typeof expression.value === 'bigint' && !Number.isSafeInteger(value) ? null : value;",
        to: 'return value;',
        why: 'lanes load what stands beside the elements that are asked for',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/analysis/affine.ts',
    ['test/analysis/affine.test.ts'],
    [
      {
        name: 'shifts count beyond the width',
        from: '2 ** (shift & (width(expression.type) - 1))',
        to: '2 ** shift',
        why: 'what a shift by 33 gives is taken for no form, or a wrong one',
      },
      {
        name: 'a difference of indices is their sum',
        from: 'affine(left.coefficient - right.coefficient,',
        to: 'affine(left.coefficient + right.coefficient,',
        why: 'lanes load from elements that run the other way',
      },
      {
        name: 'a conversion to another width keeps the step between threads',
        from: 'width(expression.operand.type) !== width(expression.type)',
        to: 'false',
        why: 'an index that wraps at 32 bits is taken for one of 64',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/analysis/indices.ts',
    ['test/analysis/indices.test.ts'],
    [
      {
        name: 'an index starts where its counter begins, though that is changed before',
        from: 'if (times > 2 || (times === 2 && init === null)) return null;',
        to: '',
        why: 'lanes access elements that nothing checked',
      },
      {
        name: 'an index that holds what a counter was before moves with it',
        from: '.filter(([, { inTurn }]) => inTurn.has(each.id))',
        to: '',
        why: 'lanes access elements that nothing checked',
      },
      {
        name: 'a bound that a loop changes counts',
        from: 'if (factor === null || last === null) return null;',
        to: 'if (factor === null) return null;',
        why: 'lanes access elements that nothing checked',
      },
      {
        name: 'a counter ends one too early',
        from: "if (operator === 'lessEqual') return limit;",
        to: '',
        why: 'the last element of a row is accessed unchecked',
      },
      {
        name: 'what is taken from an index is added to it',
        from: 'inLeft ?? { ...expression, left: integer(expression, 0), right: inRight! }',
        to: 'inLeft ?? inRight',
        why: 'an index that goes down is checked as one that goes up',
      },
      {
        name: 'a factor may itself be assigned',
        from: 'for (const each of readBy(factor)) if (assigned.has(each)) return null;',
        to: '',
        why: 'a stride that grows in the loop is taken for the one before it',
      },
      {
        name: 'a definition that divides counts before its statement',
        from: "if (each.kind === 'load' || (each.kind === 'binary' && mayFail(each))) known = false;",
        to: "if (each.kind === 'load') known = false;",
        why: 'a kernel that tests its divisor fails all the same',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/analysis/counters.ts',
    ['test/analysis/indices.test.ts'],
    [
      {
        name: 'a test for something else bounds a counter',
        from: "(operator !== 'less' && operator !== 'lessEqual')",
        to: 'false',
        why: 'a counter that goes on beyond its limit is taken to end there',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/analysis/values.ts',
    ['test/analysis/facts.test.ts'],
    [
      {
        name: 'a product is known modulo more than its factors say',
        from: '    a.modulus * b.modulus,\n  );',
        to: '    mostModulus,\n  );',
        why: 'indices that are products of two unknown values seem to be apart',
      },
      {
        name: 'of two values the larger modulus is known',
        from: 'const modulus = Math.min(a.modulus, b.modulus, powerOf(Math.abs(a.residue - b.residue)));',
        to: 'const modulus = Math.max(a.modulus, b.modulus);',
        why: 'copies of 16 bytes at addresses that are no multiples of 16: a fault of the GPU',
      },
      {
        name: 'sums that leave their type keep their bounds',
        from: 'if (!fits) return { least: all.least, most: all.most, value: null, residue, modulus };',
        to: 'if (!fits) return { least, most, value: null, residue, modulus };',
        why: 'an index that wraps is taken for one inside its array',
      },
      {
        name: 'a remainder is less than its divisor, whatever its sign',
        from: 'if (a.least >= 0 && a.most < b.least) return a;',
        to: 'if (a.most < b.least) return a;',
        why: 'a remainder of a negative number is taken for the number',
      },
      {
        name: 'a quotient by a negative number keeps its order',
        from: 'if (b.least < 0 ||',
        to: 'if (b.most < 0 ||',
        why: 'a division is taken for one that gives no negative number',
      },
      {
        name: 'unequal bounds make equal values',
        from: 'const differ = a.most < b.least || b.most < a.least || a.residue % modulus !== b.residue % modulus;',
        to: 'const differ = a.most <= b.least || b.most < a.least || a.residue % modulus !== b.residue % modulus;',
        why: 'a test that holds is left out as one that never does',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/analysis/flow.ts',
    ['test/analysis/facts.test.ts'],
    [
      {
        name: 'what a region assigns is known around it',
        from: 'for (const id of assignedIn(statement.body)) state[id] = unknown(this.#variables[id]!.type);',
        to: '',
        why: 'a check is left out of an access that may be outside, and a fault is lost',
        tests: ['test/analysis/facts.test.ts', 'test/wasm/bounds.test.ts', 'test/warps/divergence.test.ts'],
      },
      {
        name: 'what a region assigns is taken for what it was at the start',
        from: 'for (const id of assignedIn(statement.body)) state[id] = unknown(this.#variables[id]!.type);',
        to: 'if (assignedIn(statement.body).size < 0) return null;',
        why: 'a variable of a program as regions is known to be what another thread or turn has made of it',
      },
      {
        name: 'what a statement gave is kept though it reads other values',
        from: '      visit.assigned = null;\n',
        to: '',
        why: 'a counter is taken for what it is in the first turn of its loop',
      },
      {
        name: 'what a test taught is kept though it reads other values',
        from: '      visit.passed[0] = visit.passed[1] = undefined;\n',
        to: '',
        why: 'a bound of the first turn of a loop is taken for one of all turns',
      },
      {
        name: 'a test that fails teaches what one that holds does',
        from: 'const known = passed[holds ? 1 : 0];',
        to: 'const known = passed[0] ?? passed[1];',
        why: 'a branch is taken for one that is never reached',
      },
      {
        name: 'a bound that says nothing new is taken for a contradiction',
        from: 'if (fact === null || fact === known) return fact !== null;',
        to: 'if (fact === null || fact === known) return false;',
        why: 'the inside of a loop is taken for one that is never reached',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/analysis/comparisons.ts',
    ['test/analysis/facts.test.ts'],
    [
      {
        name: 'a branch that is taken where a test fails knows what holds where it holds',
        from: 'const bounds = boundsAfter(test, holds, a, b);',
        to: 'const bounds = boundsAfter(test, holds || true, a, b);',
        why: 'accesses in it are not tested',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/analysis/cohorts.ts',
    ['test/analysis/cohorts.test.ts', ...cohorts],
    [
      {
        name: 'what varies is looked for once',
        from: '} while (this.#varying.size !== before);',
        to: '} while (before < 0);',
        why: 'a variable that gets its value from one that varies is taken for the same in all threads',
      },
      {
        name: 'what a call gives is the same in all threads',
        from: 'if (variable !== null) this.#varying.add(variable);',
        to: '',
        why: 'the token of one thread is the token of all',
      },
      {
        name: 'a call that threads make one by one is made by all together',
        from: "    case 'atomic':\n    case 'print':",
        to: "    case 'print':",
        why: 'one element of a counter is taken for all threads of a cohort',
        tests: ['test/wasm/states.test.ts', 'test/differential/programs.test.ts'],
      },
      {
        name: 'what is assigned among what varies does not vary',
        from: 'for (const each of assignedIn([statement])) this.#varying.add(each);',
        to: '',
        why: 'a sum that some threads add to is the same in all',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/analysis/uniformity.ts',
    ['test/analysis/cohorts.test.ts', ...cohorts],
    [
      {
        name: 'a thread’s own array is the same in all threads',
        from: "if (space === 'local' || changing?.has",
        to: 'if (changing?.has',
        why: 'every thread gets what the first has in its own array',
      },
      {
        name: 'uniform work may leave what is around it',
        from: 'return inside.has(statement.label);',
        to: 'return true;',
        why: 'a break in a branch that is done once leaves nothing',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/analysis/counters.ts',
    ['test/wasm/hoisting.test.ts', ...lanes, 'test/wasm/faults.test.ts'],
    [
      {
        name: 'loads are taken out of a region',
        from: "(each) => each.kind === 'load' || (each",
        to: '(each) => (each',
        why: 'threads read what was there before the region stored to it',
      },
      {
        name: 'what a region assigns is taken out of it',
        from: "each.kind === 'variable' && assigned.has(each.id)",
        to: 'false',
        why: 'threads read a counter as it was before the loop',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/analysis/known-bounds.ts',
    ['test/analysis/known-bounds.test.ts', 'test/compiler/shapes.test.ts'],
    [
      {
        name: 'an index that may be negative is inside its dimension',
        from: 'factOf(index).least >= 0 && ',
        to: '',
        why: 'an access in front of a row is that of another row',
      },
      {
        name: 'an index that may be its extent is inside',
        from: '.most < factOf(extent).least',
        to: '.most <= factOf(extent).least',
        why: 'an access behind a row is that of the next',
      },
      {
        name: 'an extent is as large as it may be',
        from: 'factOf(extent).least',
        to: 'factOf(extent).most',
        why: 'an access behind a row of a size that only the launch knows is that of the next',
      },
      {
        name: 'one dimension that is known speaks for all',
        from: 'bounds.every(',
        to: 'bounds.some(',
        why: 'an access outside one dimension is that of another row',
      },
      {
        name: 'the inner dimensions need no look',
        from: 'position % 2 === 0 ||',
        to: 'position % 2 === 0 || position > 1 ||',
        why: 'an access outside a row is that of the next',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/analysis/facts.ts',
    ['test/analysis/facts.test.ts', 'test/analysis/known-bounds.test.ts'],
    [
      {
        name: 'a variable that is read before it is assigned is what it becomes',
        from: ' && !has(atStart, variable)',
        to: '',
        why: 'a copy is placed by what a later turn finds',
      },
      {
        name: 'what is assigned at two places is what it is at the last',
        from: "const isOnly = statement.kind === 'assign' && !assigned.has(variable) &&",
        to: "const isOnly = statement.kind === 'assign' &&",
        why: 'a thread is taken for another',
      },
      {
        name: 'what one thread finds by way of a variable is what all find',
        from: '? followers.has(each.id)',
        to: '? false',
        why: 'threads that have places of their own are taken to meet in one',
      },
      {
        name: 'a number of the caller is an index',
        from: '!parameter.isIndex',
        to: 'false',
        why: 'a number that is larger than any array is taken for a place of one',
      },
      {
        name: 'an i16 has no sign',
        from: 'between(type, -32_768, 32_767)',
        to: 'between(type, 0, 65_535)',
        why: 'a test for a negative number is left out',
      },
      {
        name: 'an i8 has no sign',
        from: 'between(type, -128, 127)',
        to: 'between(type, 0, 255)',
        why: 'a test for a negative number is left out',
      },
      {
        name: 'the extent of a grid is below itself',
        from: 'cover.isBelow ? most - 1 : most',
        to: 'most - 1',
        why: 'the largest grid is taken for one that there is not',
      },
      {
        name: 'a conditional is what its first half is',
        from: 'return join(then, otherwise);',
        to: 'return then;',
        why: 'the other value is taken for one that does not come',
      },
      {
        name: 'the place in a column is that in a row',
        from: 'return Math.floor(rank / x) % y;',
        to: 'return Math.floor(rank / x);',
        why: 'threads of a block with three dimensions are taken for others',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/analysis/expression-key.ts',
    ['test/runtime/fast-functions.test.ts'],
    [
      {
        name: 'a fast function is the exact one',
        from: 'return expression.fast ? `fast ${expression.function}` : expression.function;',
        to: 'return expression.function;',
        why: 'where both are computed of one value, one takes the result of the other',
      },
    ],
  ),
];
