// The worker, seen from the page: started with the first question, and started afresh when a program was ended.

import type { Action, Answer, Question } from './protocol.ts';

/** Milliseconds after which a program is ended. */
const patience = 30_000;

const ended = (summary: string): Omit<Answer, 'id'> => ({ isGood: false, summary, text: '', marks: [] });

export class Client {
  #worker: Worker | null = null;
  #asked = 0;
  readonly #waiting = new Map<number, (answer: Omit<Answer, 'id'>) => void>();

  ask(action: Action, source: string, puzzle?: string): Promise<Omit<Answer, 'id'>> {
    this.#worker ??= this.#start();
    const id = ++this.#asked;
    const question: Question = { id, action, source, ...(puzzle === undefined ? {} : { puzzle }) };
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.stop(`Ended after ${patience / 1000} seconds.`), patience);
      this.#waiting.set(id, (answer) => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        resolve(answer);
      });
      this.#worker!.postMessage(question);
    });
  }

  #start(): Worker {
    const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data }: MessageEvent<Answer>) => this.#waiting.get(data.id)?.(data);
    worker.onerror = (event) => this.stop(event.message || 'The worker could not be started.');
    return worker;
  }

  /** Ends whatever runs. */
  stop(reason = 'Ended.'): void {
    this.#worker?.terminate();
    this.#worker = null;
    for (const resolve of [...this.#waiting.values()]) resolve(ended(reason));
  }
}
