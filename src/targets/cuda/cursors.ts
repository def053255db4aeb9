// Where the head and the tail of a pipeline with barriers stand.
//
// A cursor is a count and the parity of the phase. Where the number of stages is a power of two the
// count goes on and its low bits are the stage: in a loop that is repeated once for each stage the
// compiler then knows the stages, and turns the parity once a round.

/** The stage and the parity of the phase that a cursor stands at, as expressions of C++. */
export interface Position {
  readonly stage: string;
  readonly phase: string;
}

export class Cursor {
  private readonly name: string;
  private readonly stages: number;

  constructor(name: string, stages: number) {
    this.name = name;
    this.stages = stages;
  }

  private get counts(): boolean {
    return (this.stages & (this.stages - 1)) === 0;
  }

  declaration(): string {
    return `unsigned ${this.name} = 0, ${this.name}_phase = 0;`;
  }

  reset(): string {
    return `${this.name} = 0; ${this.name}_phase = 0;`;
  }

  advance(): string {
    const { name, stages } = this;
    if (this.counts) return `if (++${name} % ${stages} == 0) ${name}_phase ^= 1;`;
    return `if (++${name} == ${stages}) { ${name} = 0; ${name}_phase ^= 1; }`;
  }

  /** The position, or one that is so many stages ahead. */
  position(ahead = 0): Position {
    const { name, stages } = this;
    const stage = this.counts ? `${name} % ${stages}` : name;
    if (ahead === 0) return { stage, phase: `${name}_phase` };
    return {
      stage: `(${name} + ${ahead}) % ${stages}`,
      phase: `((${stage} + ${ahead}) / ${stages} + ${name}_phase) % 2`,
    };
  }
}
