// Virtual devices whose streams wait for each other's events: from the first such wait on they have one host's clock, and their
// simulations go on together, from one thing that happens on any of them to the next.
//
// A wait is an operation without an end of its own. It ends when what it waits for on the other device is complete and a
// signal has passed.

import type { Simulation } from './simulation.ts';

/** The virtual time of the thread that issues. */
export interface HostClock {
  now: number;
  /** When it issued something last. */
  issued: number;
  /** Until then, issuing takes longer. */
  slowUntil: number;
}

/** A device, as the others know it. */
export interface Coupled {
  readonly simulation: Simulation;
  /** Called with what it belongs to from now on. */
  join(coupling: Coupling): void;
  /** The operations that the host waits for here. */
  awaited(): readonly number[];
}

interface Wait {
  readonly simulation: Simulation;
  readonly id: number;
  readonly other: Simulation;
  /** What it waits for of the other, as far as that is not complete. */
  left: readonly number[];
  /** When it ends, as far as that is known. */
  end: number;
}

export class Coupling {
  readonly clock: HostClock;
  readonly #members = new Set<Coupled>();
  #waits: Wait[] = [];

  constructor(clock: HostClock) {
    this.clock = clock;
  }

  get members(): Iterable<Coupled> {
    return this.#members;
  }

  /** Takes a device in. */
  add(member: Coupled): void {
    this.#members.add(member);
  }

  /** Takes all in that another has. */
  addAll(other: Coupling): void {
    for (const member of other.#members) this.#members.add(member);
    this.#waits.push(...other.#waits);
  }

  /** An operation that was issued waits for some of another device. */
  wait(simulation: Simulation, id: number, other: Simulation, ids: readonly number[]): void {
    this.#waits.push({ simulation, id, other, left: ids, end: this.clock.now });
  }

  /** A device that is closed: nothing waits for it any more. */
  remove(member: Coupled): void {
    this.#members.delete(member);
    this.#waits = this.#waits.filter(({ simulation }) => simulation !== member.simulation);
    for (const wait of this.#waits) if (wait.other === member.simulation) wait.left = [];
    this.advance(this.clock.now);
  }

  /** Lets the time of all go on to `until`, if it is later. */
  advance(until: number): void {
    for (let next = this.#next(); next <= until; next = this.#next()) this.#step(next);
    for (const { simulation } of this.#members) simulation.advance(until);
  }

  /**
   * Lets time go on until the first of these operations is complete, or `orOther` one of another device that the host waits for
   * too; at most to the last thing that happens.
   */
  completeFirst(simulation: Simulation, ids: readonly number[], orOther: boolean): void {
    const isComplete = (one: Simulation, awaited: readonly number[]) =>
      awaited.some((id) => one.stayOf(id) !== null);
    const others = orOther ? [...this.#members].filter((member) => member.simulation !== simulation) : [];
    for (;;) {
      const next = this.#next();
      if (isComplete(simulation, ids)) return;
      if (others.some((member) => isComplete(member.simulation, member.awaited()))) return;
      if (next === Number.POSITIVE_INFINITY) return;
      this.#step(next);
    }
  }

  /** When something happens next on any device. */
  #next(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const { simulation } of this.#members) next = Math.min(next, simulation.next);
    for (const wait of this.#waits) {
      this.#look(wait);
      if (wait.left.length === 0) next = Math.min(next, wait.end);
    }
    return next;
  }

  /** Takes note of what is complete of that which is waited for. */
  #look(wait: Wait): void {
    const left: number[] = [];
    for (const id of wait.left) {
      const stay = wait.other.stayOf(id);
      if (stay === null) left.push(id);
      else wait.end = Math.max(wait.end, stay.signalled + wait.other.signalTimeOf(stay.operation));
    }
    wait.left = left;
  }

  #step(time: number): void {
    for (const { simulation } of this.#members) simulation.advance(time);
    const due = this.#waits.filter(({ left, end }) => left.length === 0 && end <= time);
    this.#waits = this.#waits.filter((wait) => !due.includes(wait));
    for (const { simulation, id } of due) simulation.release(id);
  }
}
