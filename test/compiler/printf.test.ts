// The formats of console.log are those of C's printf: the same text as a C program writes, and on every target.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { format } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { kernel, open } from 'warpstage';
import { converted, partsOfFormat, withWidth } from '#warpstage/compiler/printf.js';
import { devices } from '../support/devices.ts';
import { hasTool } from '../support/tools.ts';

const flags = fc.subarray(['-', '+', ' ', '0', '#']).map((some) => some.join(''));
const numbers = fc.option(fc.integer({ min: 0, max: 25 }), { nil: null });
const sizes = fc.constantFrom('ll', 'h', 'hh');
const formats = (types: string) =>
  fc
    .record({ flags, width: numbers, precision: numbers, size: sizes, type: fc.constantFrom(...types) })
    .map(({ flags, width, precision, size, type }) => {
      const digits = precision === null ? '' : `.${precision}`;
      return { before: `%${flags}${width || ''}${digits}`, size, type };
    });
const doubles = fc.oneof(
  fc.double(),
  fc.double({ min: -1e6, max: 1e6, noNaN: true }),
  fc.integer({ min: -4000, max: 4000 }).map((n) => n / 8),
  fc.constantFrom(0, -0, 0.5, 1.5, 2.5, 1e21, 1e22, 123456789.5, Number.MAX_VALUE, Number.MIN_VALUE),
);
const integers = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

/** Whether a number is written with one digit more before the point than it has: 9.99 as 10.0. */
function gainsDigit(value: number, before: string): boolean {
  const precision = /\.(\d+)/.exec(before)?.[1] ?? '6';
  const exponent = (digits: number) => Number(/e(.*)/.exec(value.toExponential(digits))?.[1]);
  return exponent(Math.max(0, Number(precision) - 1)) !== exponent(20);
}

test.skipIf(!hasTool('cc'))('numbers are written as a C program writes them', () => {
  // glibc leaves zeros out that `#` asks of `g` where rounding gains a digit: 1.e+06 for 999999.99, where C says 1.00000e+06.
  const floats = fc
    .sample(fc.tuple(formats('fFeEgGaA'), doubles), 800)
    .filter(([{ before, type }, value]) => !(/#.*g/i.test(before + type) && gainsDigit(value, before)));
  // Not both: C leaves a sign of what has none, and `#` of `d`, undefined.
  const whole = fc
    .sample(fc.tuple(formats('duxXo'), integers), 400)
    .filter(([{ before, type }]) => !(before.includes('#') && /[du]/.test(type)));
  const folder = mkdtempSync(join(tmpdir(), 'warpstage-printf-'));
  try {
    const lines = [
      ...floats.map(([{ before, type }, value]) => {
        const bits = new BigUint64Array(Float64Array.of(value).buffer)[0]!;
        return `  bits = ${bits}ull; memcpy(&d, &bits, 8); printf("[${before}${type}]\\n", d);`;
      }),
      ...whole.map(
        ([{ before, size, type }, value]) =>
          `  printf("[${before}${size}${type}]\\n", (long long)${BigInt.asUintN(64, value)}ull);`,
      ),
    ];
    const source = join(folder, 'printed.c');
    const program = join(folder, 'printed');
    writeFileSync(
      source,
      `#include <stdio.h>\n#include <string.h>\nint main(void) {\n  unsigned long long bits; double d;\n${lines.join('\n')}\n}\n`,
    );
    execFileSync('cc', ['-w', '-O0', '-o', program, source]);
    const written = execFileSync(program, { encoding: 'latin1' }).trimEnd().split('\n');
    const format = ({ before, type }: { before: string; type: string }, size = '') =>
      `[${before}${size}${type}]`;
    const line = (text: string, value: number | bigint) =>
      partsOfFormat(text)
        .map((part) => (typeof part === 'string' ? part : converted(withWidth(part, []), value)))
        .join('');
    const ours = [
      ...floats.map(([how, value]) => line(format(how), value)),
      ...whole.map(([how, value]) =>
        line(format(how, how.size), how.type === 'd' ? value : BigInt.asUintN(64, value)),
      ),
    ];
    const wrong = ours.flatMap((text, i) => {
      // The sign of NaN is that of its bits, which JavaScript does not tell.
      if (text === written[i] || /nan/i.test(text)) return [];
      const [how, value] = [...floats, ...whole][i]!;
      return [`${format(how)} of ${value}: ${text}, in C ${written[i]}`];
    });
    expect(wrong).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe.each(devices)('$name', ({ open: openDevice }) => {
  test('prints by formats', async () => {
    const printing = kernel({ x: 'readonly f32[]', n: 'i32', big: 'u64' }, ({ x, n, big }) => {
      console.log('%5.2f|%-6d|%+d|%s', x[0]!, n, -n, 'text');
      console.log('%08.3e %g %x %X %o %c%%', x[1]!, x[0]!, n, -1, 8, 65);
      console.log('%lld %llu %s', big, big, n > 40);
      console.log('%d of', n, n + 1, 'in all');
      console.log('100 %', n);
      console.log('%*d|%-*.*f|%.*s', 5, n, 2 * 4, 1, x[0]!, 2, 'text');
      console.log('%a|%.1A|%hhx|%04x', x[0]!, x[0]!, 0x1ff, 0xab);
      console.log('100 %%');
    });
    await using device = await openDevice();
    const lines: string[] = [];
    device.print = (line) => lines.push(line);
    const x = device.alloc('f32', 2);
    device.defaultStream.memcpyAsync(x, Float32Array.of(3.25, 12345.678));
    device.defaultStream.launch(printing, { grid: 1, block: 1 }, { x, n: 42, big: 2n ** 63n });
    await device.defaultStream.synchronize();
    expect(lines).toEqual([
      ' 3.25|42    |-42|text',
      '1.235e+04 3.25 2a FFFFFFFF 10 A%',
      '-9223372036854775808 9223372036854775808 true',
      '42 of 43 in all',
      '100 % 42',
      '   42|3.2     |te',
      '0x1.ap+1|0X1.AP+1|ff|00ab',
      '100 %%',
    ]);
  });
});

describe.each(devices)('vectors, on $name', ({ open: openDevice }) => {
  test('are written as JavaScript writes objects of their components', async () => {
    const printing = kernel({ x: 'f32x4[]', n: 'u8x2[]', big: 'i64x2' }, ({ x, n, big }) => {
      console.log('x is', x[1]!, n[0]!);
      console.log(`${big} and`, big);
      console.log('%s: %d', x[0]!, 7);
    });
    await using device = await openDevice();
    const lines: string[] = [];
    device.print = (line) => lines.push(line);
    const x = device.alloc('f32x4', 2);
    const n = device.alloc('u8x2', 1);
    device.defaultStream.memcpyAsync(x, Float32Array.of(1, 2, 3, 4, -0.5, 2 ** 70, 0.25, NaN));
    device.defaultStream.memcpyAsync(n, Uint8Array.of(255, 7));
    device.defaultStream.launch(printing, { grid: 1, block: 1 }, { x, n, big: { x: 2n ** 62n, y: -1n } });
    await device.defaultStream.synchronize();
    expect(lines).toEqual([
      format('x is', { x: -0.5, y: 2 ** 70, z: 0.25, w: NaN }, { x: 255, y: 7 }),
      `{ x: 4611686018427387904, y: -1 } and ${format({ x: 2n ** 62n, y: -1n })}`,
      `${format({ x: 1, y: 2, z: 3, w: 4 })}: 7`,
    ]);
  });
});

describe('what a format cannot write is an error', () => {
  const one = { grid: 1, block: 1 };

  test('a float where an integer is written', async () => {
    await using device = await open('cpu');
    const wrong = kernel({ x: 'f32' }, ({ x }) => {
      console.log('%d', x);
    });
    expect(() => device.defaultStream.launch(wrong, one, { x: 0.5 })).toThrow(
      /WS1004: %d writes an integer, and is given .*f32/,
    );
  });

  test('a width that changes, and one without a value', async () => {
    await using device = await open('cpu');
    const wrong = kernel({ x: 'f32', n: 'i32' }, ({ x, n }) => {
      console.log('%*.2f', n, x);
      console.log('%*d', n);
    });
    expect(() => device.defaultStream.launch(wrong, one, { x: 0.5, n: 3 })).toThrow(
      /WS1009: the width that %\*\.2f asks for must be an integer up to 1000 that is known when the kernel is compiled, and is .*write it out, as in %8f.*1 conversion, which takes 2 values, and is given 1 value/s,
    );
  });

  test('a conversion without a value', async () => {
    await using device = await open('cpu');
    const wrong = kernel({ x: 'f32' }, ({ x }) => {
      console.log('%f and %f', x);
    });
    expect(() => device.defaultStream.launch(wrong, one, { x: 0.5 })).toThrow(
      'WS1009: the format of console.log has 2 conversions, and is given 1 value',
    );
  });
});
