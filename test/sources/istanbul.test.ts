// A module as istanbul instruments it (nyc, jest --coverage, vitest's istanbul provider).

import vm from 'node:vm';
import { expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import { WarpstageError } from '#warpstage/diagnostics/error.js';
import type { Kernel } from '#warpstage/kernel/kernel.js';

const counters = `function cov_1q2w3e4r5t() {
  var path = "/home/me/scale.js";
  var hash = "f0a1b2c3";
  var global = new Function("return this")();
  var gcv = "__coverage__";
  var coverageData = { path: path, s: { "0": 0, "1": 0, "2": 0 }, f: { "0": 0 }, b: { "0": [0, 0] } };
  var coverage = global[gcv] || (global[gcv] = {});
  if (!coverage[path] || coverage[path].hash !== hash) coverage[path] = coverageData;
  var actualCoverage = coverage[path];
  { cov_1q2w3e4r5t = function () { return actualCoverage; }; }
  return actualCoverage;
}
cov_1q2w3e4r5t();
`;

const specialisation = { block: [32, 1, 1], indexType: 'i32', constants: {}, functions: {} } as const;

function load(script: string): Kernel {
  const context = vm.createContext({ kernel });
  return vm.runInContext(`${counters}${script}\nscale;\n`, context, { filename: '/home/me/scale.js' });
}

test('the counters in a kernel are named, once, at their place', () => {
  const scale =
    load(`const scale = (cov_1q2w3e4r5t().s[0]++, kernel({ y: 'f32[]', a: 'f32' }, ({ y, a }, cuda) => {
  cov_1q2w3e4r5t().f[0]++;
  const i = (cov_1q2w3e4r5t().s[1]++, cuda.thisGrid().threadRank());
  cov_1q2w3e4r5t().s[2]++;
  if (i < y.length) {
    cov_1q2w3e4r5t().b[0][0]++;
    y[i] = a * y[i];
  } else {
    cov_1q2w3e4r5t().b[0][1]++;
  }
}));`);
  let thrown: unknown;
  try {
    specialise(scale, specialisation);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(WarpstageError);
  expect((thrown as WarpstageError).issues).toMatchObject([
    {
      code: 'WS1011',
      message: 'a coverage tool has put its counters (cov_1q2w3e4r5t) into this function',
      location: { file: '/home/me/scale.js', line: 15, column: 3, length: 'cov_1q2w3e4r5t'.length },
    },
  ]);
});

test('a kernel that istanbul was asked to ignore compiles in an instrumented module', () => {
  const scale = load(`const scale = (cov_1q2w3e4r5t().s[0]++, kernel({ y: 'f32[]', a: 'f32' },
/* istanbul ignore next */({ y, a }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i < y.length) y[i] = a * y[i];
}));`);
  expect(specialise(scale, specialisation).program.parameters).toHaveLength(2);
});
