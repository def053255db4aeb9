// What of a prelude stays in the CUDA C++ of a kernel.

import { describe, expect, test } from 'vitest';
import { prelude } from '#warpstage/targets/cuda/prelude.js';
import { asyncPrelude } from '#warpstage/targets/cuda/prelude-async.js';
import { barrierPrelude } from '#warpstage/targets/cuda/prelude-barrier.js';
import {
  channelPrelude,
  checkPrelude,
  printPrelude,
  uncheckedPrelude,
} from '#warpstage/targets/cuda/prelude-checks.js';
import { gridPrelude } from '#warpstage/targets/cuda/prelude-grid.js';
import { meetingPrelude } from '#warpstage/targets/cuda/tile-barriers.js';
import { usedDefinitions } from '#warpstage/targets/used-definitions.js';

const preludes = {
  prelude,
  asyncPrelude,
  barrierPrelude,
  channelPrelude,
  checkPrelude,
  printPrelude,
  uncheckedPrelude,
  gridPrelude,
  meetingPrelude,
};

test.each(Object.entries(preludes))('%s stays whole for a kernel that uses all of it', (_, text) => {
  expect(usedDefinitions([text], text)).toBe(text);
});

test.each(Object.entries(preludes).filter(([name]) => name !== 'checkPrelude'))(
  'of %s nothing but directives stays for a kernel that uses none of it',
  (_, text) => {
    const lines = usedDefinitions([text], '').split('\n');
    expect(lines.filter((line) => !/^(#(pragma|define)|\/\/|$)/.test(line))).toEqual([]);
  },
);

describe('of a small prelude', () => {
  const small = `#define WS_SPIN(test) ws_spin(test)
// One.
WS_DEVICE int ws_one() { return 1; }
// Two: twice ws_one, and not ws_none().
WS_DEVICE int ws_two() {
  return ws_one() + ws_one();
}
WS_DEVICE int ws_two(int n) { return n; }
WS_DEVICE void ws_spin(bool test) {}
WS_DEVICE int ws_none() { return 0; }
#if __CUDA_ARCH__ >= 900
struct ws_pair { int a, b; };
#else
WS_DEVICE int ws_old() { return 0; }
#endif
`;

  test('stays what is used by what is used, all functions of one name, and what macros use', () => {
    const text = usedDefinitions([small], 'x = ws_two();');
    expect(text).toBe(small.slice(0, small.indexOf('WS_DEVICE int ws_none()')));
  });

  test('stays what another prelude uses', () => {
    const text = usedDefinitions(
      ['WS_DEVICE int ws_a() { return 1; }\n', 'WS_DEVICE int ws_b() { return ws_a(); }\n'],
      'ws_b()',
    );
    expect(text).toBe('WS_DEVICE int ws_a() { return 1; }\nWS_DEVICE int ws_b() { return ws_a(); }\n');
  });

  test('a conditional stays where anything in it is used', () => {
    const start = usedDefinitions([small], '');
    expect(usedDefinitions([small], 'ws_pair p;')).toBe(
      `${start}#if __CUDA_ARCH__ >= 900\nstruct ws_pair { int a, b; };\n#endif\n`,
    );
    expect(usedDefinitions([small], 'ws_old()')).toBe(
      `${start}#if __CUDA_ARCH__ >= 900\n#else\nWS_DEVICE int ws_old() { return 0; }\n#endif\n`,
    );
  });
});

test('a definition that cannot be distinguished is refused', () => {
  expect(() => usedDefinitions(['static int nameless() { return 0; }\n'], '')).toThrow(
    'without a name of its own',
  );
});
