// Random kernels whose lanes exchange values: straight on, in branches and in loops that lanes leave
// at different times. In each of those a mask names exactly the lanes that are there. Tiles are cut into groups,
// and each group goes its own way.

import type { Tape } from './tape.ts';

/** Text of a kernel's body, over `out` and `x`. */
export function warpKernelText(tape: Tape): string {
  return new Writer(tape).kernel();
}

class Writer {
  readonly #tape: Tape;
  #names = 0;

  constructor(tape: Tape) {
    this.#tape = tape;
  }

  kernel(): string {
    const leaves = this.#tape.chance(1, 5) ? `if (t % 7 === ${this.#tape.below(7)}) return;` : '';
    // Lanes that returned are named and not awaited; only what reads from no certain lane is safe then.
    const body = this.#statements(leaves === '' ? 'all' : 'some', leaves === '' ? '0xffffffff' : 'live', 0);
    return `({ out, x }, cuda) => {
      const t = cuda.threadIdx.x;
      const tile = cuda.tiledPartition(cuda.thisThreadBlock(), 8);
      let v = x[t];
      let w = cuda.i32(t);
      ${leaves}
      const live = cuda.ballotSync(0xffffffff, true);
      ${body}
      out[t] = v * 31 + w;
    }`;
  }

  #statements(whom: 'all' | 'some', mask: string, depth: number): string {
    const statements: string[] = [];
    do statements.push(this.#statement(whom, mask, depth));
    while (!this.#tape.ended && this.#tape.chance(depth === 0 ? 5 : 2, 6));
    return statements.join('\n');
  }

  #statement(whom: 'all' | 'some', mask: string, depth: number): string {
    if (whom === 'all' && this.#tape.chance(1, 8)) return this.#partition();
    const kind = this.#tape.below(depth < 2 ? 8 : 6);
    if (kind < 5) return `${this.#tape.pick(['v', 'w'])} = ${this.#exchange(whom, mask)};`;
    if (kind === 5) return `v = v * 5 + w; w = w ^ (v >> ${1 + this.#tape.below(9)});`;
    const name = `m${this.#names++}`;
    const condition = this.#condition();
    if (kind === 6) {
      return `const ${name} = cuda.ballotSync(${mask}, ${condition});
        if ((${name} >>> cuda.laneId) & 1) { ${this.#statements('some', name, depth + 1)} }
        else { ${this.#statements('some', `(${mask} & ~${name})`, depth + 1)} }`;
    }
    const rounds = `r${name}`;
    return `let ${name} = cuda.u32(${mask});
      for (let ${rounds} = 0; ${rounds} < 4; ${rounds}++) {
        const goes = (v ^ t) % 4 >= ${rounds};
        ${name} = cuda.ballotSync(${name}, goes);
        if (!goes) break;
        ${this.#statements('some', name, depth + 1)}
      }`;
  }

  #partition(): string {
    const group = `g${this.#names++}`;
    const ways = () => `v = ${this.#among(group)}; w = w ^ ${this.#among(group)};`;
    if (this.#tape.chance(1, 2)) {
      return `const ${group} = cuda.labeledPartition(tile, v & ${1 + this.#tape.below(3)}); ${ways()}`;
    }
    return `const is${group} = ${this.#condition()};
      const ${group} = cuda.binaryPartition(tile, is${group});
      if (is${group}) { ${ways()} } else { ${ways()} }`;
  }

  #among(group: string): string {
    const value = `cuda.i32(${this.#tape.pick(['v', 'w', 'v + w', 'v - t'])})`;
    return this.#tape.pick([
      `cuda.cg.reduce(${group}, ${value}, 'plus')`,
      `cuda.cg.inclusiveScan(${group}, ${value}, 'less')`,
      `cuda.i32(${group}.ballot(${this.#condition()}))`,
      `cuda.i32(${group}.matchAny(${value} & 3))`,
      `${group}.shfl(${value}, ${group}.size() - 1)`,
      `${group}.shflDown(${value}, ${1 + this.#tape.below(4)})`,
      `(${group}.any(${this.#condition()}) ? ${value} : ${group}.threadRank())`,
    ]);
  }

  #exchange(whom: 'all' | 'some', mask: string): string {
    const value = this.#tape.pick(['v', 'w', 'v + w', 'v - t']);
    const integer = `cuda.i32(${value})`;
    const anywhere = [
      `cuda.reduceAddSync(${mask}, ${integer})`,
      `cuda.reduceMinSync(${mask}, ${integer})`,
      `cuda.reduceXorSync(${mask}, ${integer})`,
      `cuda.i32(cuda.ballotSync(${mask}, ${this.#condition()}))`,
      `(cuda.anySync(${mask}, ${this.#condition()}) ? v : w)`,
      `(cuda.allSync(${mask}, ${this.#condition()}) ? v : w)`,
      `cuda.i32(cuda.matchAnySync(${mask}, ${integer} & 3))`,
      `cuda.i32(cuda.matchAllSync(${mask}, ${integer} & 1))`,
      `cuda.shflSync(${mask}, ${integer}, cuda.ffs(cuda.ballotSync(${mask}, true)) - 1)`,
    ];
    const where = `${1 + this.#tape.below(15)}`;
    const together = [
      `cuda.shflSync(${mask}, ${integer}, t * ${where})`,
      `cuda.shflUpSync(${mask}, ${integer}, ${where}, ${this.#tape.pick([32, 8, '1 << (t % 6)'])})`,
      `cuda.shflDownSync(${mask}, ${integer}, (v & 15), ${this.#tape.pick([32, 16, '4 << (t % 3)'])})`,
      `cuda.shflXorSync(${mask}, ${integer}, ${where})`,
      `tile.shflXor(${integer}, ${where} & 7)`,
      `cuda.i32(tile.ballot(${this.#condition()}))`,
      `cuda.cg.reduce(tile, ${integer}, 'greater')`,
      `cuda.cg.inclusiveScan(tile, ${integer})`,
    ];
    return this.#tape.pick(whom === 'all' ? [...together, ...anywhere] : anywhere);
  }

  #condition(): string {
    const tape = this.#tape;
    return tape.pick([
      `(v & ${1 + tape.below(7)}) !== 0`,
      `t % ${2 + tape.below(5)} === 0`,
      `w < ${tape.below(40)}`,
      'v > w',
      'true',
    ]);
  }
}
