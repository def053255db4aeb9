// Whether the lead runs a launch alone, since it is over before another thread would have come.
//
// To wake threads, and to wait until those that came have left, takes some ten microseconds: more than many small kernels do.
// How long a kernel's blocks took in its last launch says what to expect. A launch that is expected to be over soon is
// begun alone, in ranges that grow; others are called once it takes longer than that.

/** Milliseconds that a launch may take alone. */
const soon = 0.02;

/** How a launch goes. */
export interface Pace {
  /** How many blocks to take next, as long as nobody was called; else null. */
  readonly share: number | null;
  /** Runs a range of so many blocks, and takes its time. */
  run<T>(blocks: number, run: () => T): T;
}

export class Paces {
  /** What a block of an executable took when it was last run, in milliseconds. */
  readonly #times = new Map<number, number>();
  readonly #call: () => void;
  readonly #now: () => number;

  /** `call`: wakes the other threads. */
  constructor(call: () => void, now: () => number = () => performance.now()) {
    this.#call = call;
    this.#now = now;
  }

  /** A launch begins. */
  begin(executable: number, blocks: number): Pace {
    const expected = this.#times.get(executable);
    let share = expected !== undefined && expected * blocks < soon ? 1 : null;
    let [time, done] = [0, 0];
    return {
      get share() {
        return share;
      },
      run: (count, run) => {
        const began = this.#now();
        const result = run();
        time += this.#now() - began;
        done += count;
        this.#times.set(executable, time / done);
        if (share === null) return result;
        share *= 2;
        if (time < soon || done === blocks) return result;
        share = null;
        this.#call();
        return result;
      },
    };
  }

  forget(executable: number): void {
    this.#times.delete(executable);
  }
}
