// Keeps the process alive while something is awaited that the event loop does not know of.

/** As long as a timer can be. */
const longest = 2 ** 31 - 1;

export class KeepAlive {
  #awaited = 0;
  #timer: ReturnType<typeof setInterval> | null = null;

  /** Something more is awaited. */
  add(): void {
    if (++this.#awaited === 1) this.#timer = setInterval(() => {}, longest);
  }

  /** It has come. */
  remove(): void {
    if (--this.#awaited === 0) this.letGo();
  }

  /** Nothing is awaited any more, come what may. */
  letGo(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}
