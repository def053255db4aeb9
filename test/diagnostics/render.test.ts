import { inspect, stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { type Issue, type Location, WarpstageError } from '#warpstage/diagnostics/error.js';
import { formatIssues } from '#warpstage/diagnostics/render.js';

const text = `const scale = kernel({ y: 'f32[]' }, ({ y }, cuda) => {
  const i = cuda.thisGrid().threadRank();

  y[i] = factor * y[i];
});
`;

/** The location of the first `words` in `inText`. */
function locationIn(inText: string, words: string, file: string | null = '/home/me/scale.ts'): Location {
  const at = inText.indexOf(words);
  const before = inText.slice(0, at).split(/\r\n|\n/);
  const place = {
    line: before.length,
    column: before.at(-1)!.length + 1,
    text: inText,
    length: words.length,
  };
  return file === null ? place : { file, ...place };
}

const captured: Issue = {
  code: 'WS1002',
  message: '`factor` is captured from outside the kernel',
  hint: "add `factor: 'f32'` to the schema",
  location: locationIn(text, 'factor'),
};

const frame = (inText: string, words: string) =>
  formatIssues([{ code: 'WS1001', message: 'm', location: locationIn(inText, words) }])
    .split('\n')
    .slice(2);

describe('the text of an issue', () => {
  test('has the code, the sentence, the place, a code frame and the hint', () => {
    expect(formatIssues([captured])).toBe(
      [
        'WS1002: `factor` is captured from outside the kernel',
        '  /home/me/scale.ts:4:10',
        '  > 4 |   y[i] = factor * y[i];',
        '      |          ^^^^^^',
        '    5 | });',
        "  hint: add `factor: 'f32'` to the schema",
      ].join('\n'),
    );
  });

  test('names the thread and block of a running kernel', () => {
    const issue: Issue = {
      code: 'WS3001',
      message: 'y[300] is outside y, which has 256 elements',
      thread: [3, 0, 0],
      block: [1, 0, 0],
    };
    expect(formatIssues([issue])).toBe(
      'WS3001: y[300] is outside y, which has 256 elements\n  thread (3, 0, 0) of block (1, 0, 0)',
    );
    const { thread, ...blockOnly } = issue;
    expect(thread).toBeDefined();
    expect(formatIssues([blockOnly])).toMatch(/\n {2}block \(1, 0, 0\)$/);
  });

  test('shows related places, each under its label', () => {
    const related = [{ label: 'declared here', location: locationIn(text, '{ y }') }];
    expect(
      formatIssues([{ ...captured, related }])
        .split('\n')
        .slice(5, 9),
    ).toEqual([
      '  declared here:',
      '  /home/me/scale.ts:1:39',
      "  > 1 | const scale = kernel({ y: 'f32[]' }, ({ y }, cuda) => {",
      `      | ${' '.repeat(38)}^^^^^`,
    ]);
  });

  test('says so where only the function is known', () => {
    const issue: Issue = { ...captured, location: locationIn(text, 'factor', null) };
    expect(formatIssues([issue])).toContain('\n  line 4, column 10 of the function\n  > 4 |');
  });

  test('does without a frame where the file cannot be read', () => {
    const issue: Issue = { ...captured, location: { ...locationIn(text, 'factor'), text: '' } };
    expect(formatIssues([issue]).split('\n')).toHaveLength(3);
  });

  test('shows paths below a folder relative to it', () => {
    expect(formatIssues([captured], { folder: '/home/me' })).toContain('\n  scale.ts:4:10\n');
    expect(formatIssues([captured], { folder: '/home/m' })).toContain('\n  /home/me/scale.ts:4:10\n');
  });

  test('several issues stand apart by a blank line', () => {
    const [first, second] = formatIssues([captured, { code: 'WS1003', message: 'second' }]).split('\n\n');
    expect(first).toMatch(/^WS1002/);
    expect(second).toBe('WS1003: second');
  });

  test('has colours only when asked, and then the same words', () => {
    const colourful = formatIssues([captured], { colour: true });
    expect(colourful).toContain('\u001b[31mWS1002\u001b[39m');
    expect(stripVTControlCharacters(colourful)).toBe(formatIssues([captured]));
  });
});

describe('a code frame', () => {
  test('counts tabs as the two columns that it shows them in', () => {
    expect(frame('if (x)\n\t\ty[i]\t= factor;\n', 'factor')).toEqual([
      '    1 | if (x)',
      '  > 2 |     y[i]  = factor;',
      '      |             ^^^^^^',
    ]);
  });

  test('aligns line numbers of different lengths', () => {
    const lines = Array.from({ length: 11 }, (_, i) => `line${i + 1};`).join('\n');
    expect(frame(lines, 'line10')).toEqual([
      '     9 | line9;',
      '  > 10 | line10;',
      '       | ^^^^^^',
      '    11 | line11;',
    ]);
  });

  test('ends with the last line, also without a newline at the end', () => {
    expect(frame('first\nlast', 'last')).toEqual(['    1 | first', '  > 2 | last', '      | ^^^^']);
    expect(frame('first\nlast\n', 'last')).toEqual(['    1 | first', '  > 2 | last', '      | ^^^^']);
    expect(frame('only', 'only')).toEqual(['  > 1 | only', '      | ^^^^']);
  });

  test('points behind the end of a line where something is missing', () => {
    const location = { file: 'a.ts', line: 1, column: 5, length: 1, text: 'a = \n' };
    expect(
      formatIssues([{ code: 'WS1001', message: 'm', location }])
        .split('\n')
        .slice(2),
    ).toEqual(['  > 1 | a =', '      |     ^']);
  });

  test('takes lines that end in carriage return and newline', () => {
    expect(frame('a;\r\nfactor;\r\nb;\r\n', 'factor')).toEqual([
      '    1 | a;',
      '  > 2 | factor;',
      '      | ^^^^^^',
      '    3 | b;',
    ]);
  });

  test('shows a window of a long line around the carets, and the same window of its neighbours', () => {
    const [before, target, carets, after] = frame(
      `${'b'.repeat(40)}\n${'x'.repeat(100_000)}factor${'y'.repeat(100_000)}\n${'a'.repeat(200_000)}`,
      'factor',
    );
    expect(before).toBe('    1 | …');
    expect(target).toBe(`  > 2 | …${'x'.repeat(25)}factor${'y'.repeat(69)}…`);
    expect(carets).toBe(`      | ${' '.repeat(26)}^^^^^^`);
    expect(after).toBe(`    3 | …${'a'.repeat(100)}…`);
  });

  test('keeps the carets inside the window', () => {
    const [target, carets] = frame('f'.repeat(500), 'f'.repeat(500));
    expect(target).toBe(`  > 1 | ${'f'.repeat(100)}…`);
    expect(carets).toBe(`      | ${'^'.repeat(100)}`);
  });

  test('counts wide characters as two columns and combined ones as one', () => {
    expect(frame("print('数据 👍🏽 e\u0301', factor)", 'factor')[1]).toBe(`      | ${' '.repeat(19)}^^^^^^`);
  });

  test('shows nothing that would move the cursor of a terminal', () => {
    expect(frame('a = "\u001b[2J\u0007"; factor', 'factor')[0]).toBe('  > 1 | a = "\ufffd[2J\ufffd"; factor');
  });
});

/** The frames of the stack of what a function throws. */
function framesOf(wrong: () => void): string[] {
  try {
    wrong();
  } catch (error) {
    return (error as Error).stack!.split('\n').filter((line) => line.startsWith('    at '));
  }
  throw new Error('nothing was thrown');
}

describe('WarpstageError', () => {
  test('has the rendering of its issues as its message, and the first code and hint', () => {
    const error = new WarpstageError([captured, { code: 'WS1003', message: 'second' }]);
    expect(error.message).toBe(formatIssues(error.issues));
    expect(error.code).toBe('WS1002');
    expect(error.hint).toBe("add `factor: 'f32'` to the schema");
    expect(error.name).toBe('WarpstageError');
    expect(error).toBeInstanceOf(Error);
  });

  test('keeps its cause', () => {
    const cause = new TypeError('inner');
    expect(new WarpstageError(captured, { cause }).cause).toBe(cause);
    expect('cause' in new WarpstageError(captured)).toBe(false);
  });

  test("begins its stack at the user's call", () => {
    function inner(): never {
      throw new WarpstageError(captured, { caller: published });
    }
    function published(): void {
      inner();
    }
    function user(): void {
      published();
    }
    let stack = '';
    try {
      user();
    } catch (error) {
      stack = (error as Error).stack!;
    }
    expect(stack).toMatch(/^WarpstageError: WS1002/);
    expect(stack.split('\n').find((line) => line.startsWith('    at '))).toMatch(/at user /);
    expect(stack).not.toMatch(/at (inner|published)/);
  });

  test("leaves this package's own frames out of its stack, but not what the user calls it with", () => {
    function user(): void {
      kernel({ y: 'Float32Array' } as never, () => {});
    }
    function viaBuiltIn(): void {
      [1].forEach(user);
    }
    expect(framesOf(user)[0]).toMatch(/at user /);
    expect(framesOf(viaBuiltIn).slice(0, 3)).toEqual([
      expect.stringContaining('at user '),
      expect.stringContaining('at Array.forEach'),
      expect.stringContaining('at viaBuiltIn '),
    ]);
  });

  test("keeps to the program's limit of frames", () => {
    const limit = Error.stackTraceLimit;
    const wrong = () => kernel({ y: 'Float32Array' } as never, () => {});
    const deep = (depth: number): void => {
      if (depth > 0) deep(depth - 1);
      else wrong();
    };
    try {
      Error.stackTraceLimit = 3;
      expect(framesOf(() => deep(9))).toHaveLength(3);
      Error.stackTraceLimit = 0;
      expect(framesOf(wrong)).toEqual([]);
    } finally {
      Error.stackTraceLimit = limit;
    }
  });

  test('prints as its message and stack, without the text of the file', () => {
    const printed = inspect(new WarpstageError(captured));
    expect(printed).toMatch(/^WarpstageError: WS1002: `factor`/);
    expect(printed).not.toMatch(/issues|thisGrid/);
  });

  test('gives its issues as data, with the line at fault alone of the text', () => {
    const related = [{ label: 'declared here', location: locationIn(text, '{ y }') }];
    const error = new WarpstageError({ ...captured, related }, { cause: new TypeError('inner') });
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      name: 'WarpstageError',
      code: 'WS1002',
      issues: [
        {
          code: 'WS1002',
          message: captured.message,
          hint: captured.hint,
          location: {
            file: '/home/me/scale.ts',
            line: 4,
            column: 10,
            length: 6,
            source: '  y[i] = factor * y[i];',
          },
          related: [
            {
              label: 'declared here',
              location: {
                file: '/home/me/scale.ts',
                line: 1,
                column: 39,
                length: 5,
                source: text.split('\n')[0],
              },
            },
          ],
        },
      ],
      cause: 'TypeError: inner',
    });
  });
});
