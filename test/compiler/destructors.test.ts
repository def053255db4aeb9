// A thread quits a pipeline exactly once, wherever it leaves the block that makes it: random kernels, in which
// blocks, loops, switches and functions make pipelines, quit some of them, and jump.
//
// Each thread has its pipelines to itself, so that it goes its own way. Had it not quit one that is made anew, or
// quit it twice, the checker would say so.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { check } from 'warpstage/check';
import { kernelOf, statementsOf } from './support.ts';

/** A statement of a random kernel. Places of the text are numbered when it is written down. */
type Part =
  | { readonly kind: 'make'; readonly quits: 'never' | 'perhaps' | 'asked' }
  | { readonly kind: 'jump'; readonly way: 'break' | 'continue' | 'return' }
  | { readonly kind: 'block' | 'loop' | 'if' | 'switch' | 'call'; readonly body: readonly Part[] };

const { parts } = fc.letrec<{ parts: readonly Part[]; part: Part }>((tie) => ({
  parts: fc.array(tie('part'), { minLength: 1, maxLength: 4, depthIdentifier: 'depth' }),
  part: fc.oneof(
    { depthSize: 'small', depthIdentifier: 'depth' },
    fc.record({
      kind: fc.constant('make' as const),
      quits: fc.constantFrom('never' as const, 'perhaps' as const, 'asked' as const),
    }),
    fc.record({
      kind: fc.constant('jump' as const),
      way: fc.constantFrom('break' as const, 'continue' as const, 'return' as const),
    }),
    fc.record({
      kind: fc.constantFrom(
        'block' as const,
        'loop' as const,
        'loop' as const,
        'if' as const,
        'switch' as const,
        'call' as const,
      ),
      body: tie('parts'),
    }),
  ),
}));

/** The text of a kernel, in which each thread decides by its data and by how far it has come. */
class Writer {
  #made = 0;
  #names = 0;
  readonly #states: string[] = [];

  kernel(body: readonly Part[]): string {
    const text = this.#list(body, { loops: 0, leaves: 0 });
    return `({ out, data }, cuda) => {
  const t = cuda.thisGrid().threadRank();
  const one = cuda.tiledPartition(cuda.thisThreadBlock(), 1);
  ${this.#states.join('\n  ')}
  let at = 0;
  let lasts = 0;
  const decide = () => {
    at += 1;
    return (data[t] >> (at % 23)) % 2 !== 0;
  };
  for (let turn = 0; turn < 2; turn++) {
${text}
  }
  out[t] = lasts;
}`;
  }

  #list(parts: readonly Part[], around: { readonly loops: number; readonly leaves: number }): string {
    return parts.map((part) => this.#part(part, around)).join('\n');
  }

  #part(part: Part, around: { readonly loops: number; readonly leaves: number }): string {
    const { loops, leaves } = around;
    switch (part.kind) {
      case 'make': {
        const [name, state] = [`pipeline${this.#made}`, `state${this.#made++}`];
        this.#states.push(`const ${state} = cuda.pipelineSharedState('block', 1);`);
        const make = `const ${name} = cuda.makePipeline(one, ${state});`;
        if (part.quits === 'never') return `${make} ${name}.producerAcquire();`;
        const quit = part.quits === 'asked' ? `if (${name}.quit()) lasts += 1;` : `${name}.quit();`;
        return `${make} ${name}.producerAcquire(); if (decide()) { ${quit} }`;
      }
      case 'jump':
        if (part.way === 'return') return 'if (decide()) return;';
        if (part.way === 'continue') return loops > 0 ? 'if (decide()) continue;' : '';
        return loops + leaves > 0 ? 'if (decide()) break;' : '';
      case 'block':
        return `{ ${this.#list(part.body, around)} }`;
      case 'if':
        return `if (decide()) { ${this.#list(part.body, around)} } else { ${this.#list(part.body, around)} }`;
      case 'loop': {
        const i = `i${this.#names++}`;
        return `for (let ${i} = 0; ${i} < 2; ${i}++) { ${this.#list(part.body, { loops: loops + 1, leaves })} }`;
      }
      case 'switch': {
        const arm = () => this.#list(part.body, { loops, leaves: leaves + 1 });
        return `switch (data[t] & 3) { case 0: { ${arm()} } case 1: ${arm()} break; default: { ${arm()} } }`;
      }
      case 'call': {
        const name = `part${this.#names++}`;
        return `const ${name} = () => { ${this.#list(part.body, { loops: 0, leaves: 0 })} }; ${name}();`;
      }
    }
  }
}

test('random kernels quit each pipeline once', () => {
  fc.assert(
    fc.property(parts, fc.array(fc.integer(), { minLength: 4, maxLength: 4 }), (body, data) => {
      const kernel = kernelOf({ out: 'i32[]', data: 'readonly i32[]' }, new Writer().kernel(body));
      const launch = {
        grid: 1,
        block: 4,
        arguments: { out: new Int32Array(4), data: Int32Array.from(data) },
      };
      const { findings } = check(kernel, launch as never, { schedules: 1, outputs: { out: 'any' } });
      expect(findings.map(({ code, message }) => `${code}: ${message}`)).toEqual([]);
    }),
    { numRuns: Number(process.env.WARPSTAGE_RANDOM_RUNS ?? 100) },
  );
});

describe('what stands in the program', () => {
  const make = "const p = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));";
  const printed = (text: string) =>
    statementsOf({ out: 'i32[]' }, `({ out }, cuda) => { const block = cuda.thisThreadBlock(); ${text} }`);
  const quits = (text: string) =>
    printed(text)
      .split('\n')
      .filter((line) => line.includes('quit()'));

  test("nothing at the thread's end, where nobody asks", () => {
    expect(quits(`${make} if (out[0] === 1) return; out[0] = 1;`)).toEqual([]);
    expect(quits(`{ ${make} out[0] = 1; }`)).toEqual([]);
  });

  test("a quit at the block's end, and none after one of the thread's own", () => {
    expect(quits(`{ ${make} } out[0] = 1;`)).toEqual(['p.quit()']);
    expect(quits(`{ ${make} p.quit(); } out[0] = 1;`)).toEqual(['p.quit()']);
  });

  test('a variable where it depends on the way', () => {
    expect(printed(`{ ${make} if (out[0] === 1) p.quit(); } out[0] = 1;`)).toContain(
      'if (held) {\n  p.quit()',
    );
  });

  test('at each way out of the kernel where a thread asks', () => {
    expect(quits(`${make} if (out[0] === 1) return; if (p.quit()) out[0] = 1;`)).toEqual([
      '  p.quit()',
      'last = p.quit()',
    ]);
  });

  const made = (name: string) =>
    `const ${name} = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));`;

  test('the youngest quits first', () => {
    expect(quits(`{ ${made('p')} ${made('q')} } out[0] = 1;`)).toEqual(['q.quit()', 'p.quit()']);
  });

  test('a break quits what belongs to all blocks that it leaves', () => {
    const inner = `{ ${made('q')} if (out[0] === 1) break; }`;
    expect(quits(`for (;;) { ${made('p')} ${inner} } out[0] = 1;`)).toEqual([
      '    q.quit()',
      '    p.quit()',
      '  q.quit()',
      '  p.quit()',
    ]);
  });

  test.each([
    ['alone', 'p', 'f()'],
    ['in a list', '[1, p]', 'f()[1]'],
    ['in an object', '{ at: 1, p }', 'f().p'],
  ])('what a function returns %s belongs to the block that calls it', (_, returned, used) => {
    const call = `const q = ${used}; q.producerAcquire();`;
    const text = printed(`const f = () => { ${made('p')} return ${returned}; };
      for (let i = 0; i < 4; i++) { ${call} out[i] = 1; } out[0] = 2;`);
    expect(text.match(/\S*(quit|Acquire)\(/g)).toEqual(['p.producerAcquire(', 'p.quit(']);
  });

  test.each([
    ['a turn that goes on has quit', 'if (out[i] === 1) { p.quit(); i = 9; continue; } out[i] = 2;'],
    ['a turn may have quit', 'if (i === out[1]) p.quit();'],
  ])('a variable where %s', (_, turn) => {
    expect(printed(`{ ${make} for (let i = 0; i < 4; i++) { ${turn} } } out[0] = 1;`)).toContain(
      'if (held) {\n  p.quit()',
    );
  });

  test.each([
    ['a do loop', 'let i = 0; do { p.quit(); i += 1; } while (i < out[2]);', 0],
    [
      'a loop that only a break leaves',
      'for (;;) { if (out[0] === 1) { p.quit(); break; } out[0] += 1; }',
      0,
    ],
    ['a thread that quits and returns', 'if (out[0] === 1) { p.quit(); return; }', 1],
  ])('no variable behind %s, as every way is the same', (_, way, more) => {
    const text = `{ ${make} ${way} } out[0] = 1;`;
    expect(printed(text)).not.toContain('held');
    expect(quits(text)).toHaveLength(1 + more);
  });
});
