// How the main thread waits for a GPU: it looks, ever less often.
//
// A small kernel is done some microseconds after its launch, sooner than the event loop turns: so
// at first the waiter looks without leaving. Then once in every turn of the event loop; and when
// nothing was seen to be done for a while, by a timer, which leaves the processor alone. A
// thread that waits in the driver and wakes the event loop takes two to three times as long.

/** How long the first look may take, in milliseconds: what an event loop's turn costs anyway. */
const firstLook = 0.015;
/** How long every turn of the event loop looks, counted from when something was last seen to be done. */
const eager = 5;

export class Waiting {
  readonly #look: () => void;
  #watched = 0;
  #scheduled = false;
  #since = 0;

  constructor(look: () => void) {
    this.#look = look;
  }

  /** Somebody waits for something more. */
  add(): void {
    this.#watched += 1;
    this.progressed();
    this.#schedule();
  }

  remove(): void {
    this.#watched -= 1;
  }

  /** Something was seen to be done: more may follow soon. */
  progressed(): void {
    this.#since = performance.now();
  }

  /** Looks for a moment, unless somebody waits already; whether it was done by then. */
  lookAtOnce(done: () => boolean): boolean {
    if (this.#watched > 0) return false;
    const end = performance.now() + firstLook;
    do {
      this.#look();
      if (done()) return true;
    } while (performance.now() < end);
    return false;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const again = () => {
      this.#scheduled = false;
      if (this.#watched === 0) return;
      this.#look();
      if (this.#watched > 0) this.#schedule();
    };
    if (performance.now() - this.#since < eager) setImmediate(again);
    else setTimeout(again, 1);
  }
}
