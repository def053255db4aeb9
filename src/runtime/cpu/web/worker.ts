// The entry of the device's web workers. The build makes one text of it and of all that it imports (worker.text.js).
//
// The loops are those of Node's threads (engine-loop.ts, helper-loop.ts), but that orders come by the event loop: whoever
// has not received all that was posted returns to it.

import { createWasmRunner } from '../../../targets/wasm/runner.ts';
import { CommandTable, engineNames } from '../command-table.ts';
import { computeHandler, help, type RunnerFactory, Runners } from '../computing.ts';
import { copyHandler } from '../copying.ts';
import { type CommandOrder, carryOut, enqueue, takeReady } from '../engine-queue.ts';
import type { Order } from '../messages.ts';
import { WorkerPool } from '../worker-pool.ts';
import { web } from './globals.ts';
import { MailOut } from './mail.ts';
import type { WebThreadData } from './web-thread.ts';

const self = globalThis as unknown as {
  onmessage: (event: { readonly data: unknown }) => void;
  postMessage(message: unknown): void;
};

/** Orders that were received, and who waits for the next. */
class Inbox {
  readonly #mail: MailOut;
  #orders: Order[] = [];
  #received = 0;
  #arrived: () => void = () => {};

  constructor(mail: MailOut) {
    this.#mail = mail;
  }

  receive(order: Order): void {
    this.#orders.push(order);
    this.#received = (this.#received + 1) | 0;
    this.#arrived();
  }

  /** All orders that were posted so far, each once. */
  async take(): Promise<readonly Order[]> {
    // A browser ends a thread at once that has returned to its event loop, and one that sleeps after two seconds.
    if (this.#mail.isEnded) await new Promise(() => {});
    while (this.#received !== this.#mail.posted) {
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
    }
    const orders = this.#orders;
    this.#orders = [];
    return orders;
  }
}

async function start(thread: WebThreadData, mail: MailOut, inbox: Inbox): Promise<never> {
  const { role, pool, device, staging, timeOrigin } = thread;
  const difference = performance.timeOrigin - timeOrigin;
  const now = () => performance.now() + difference;
  const workshop = { memory: device, port: mail, create: createWasmRunner as RunnerFactory, now };
  if (typeof role === 'object') return runHelper(role.helper, new WorkerPool(pool), workshop, inbox);
  const handler =
    role === 'compute' ? computeHandler(new WorkerPool(pool), workshop) : copyHandler(device, staging);
  return runEngine(
    engineNames.indexOf(role),
    new CommandTable(thread.table),
    { now, handler, port: mail },
    inbox,
  );
}

async function runEngine(
  engine: number,
  table: CommandTable,
  means: Parameters<typeof carryOut>[2],
  inbox: Inbox,
): Promise<never> {
  const queue: CommandOrder[] = [];
  const notifyMain = () => means.port.postMessage({ kind: 'complete' });
  table.setAlive(engine);
  for (;;) {
    const seen = table.signals(engine);
    for (const order of await inbox.take()) {
      if (order.kind === 'executable') means.handler.announce(order.id, order.executable);
      else if (order.kind === 'forget') means.handler.forget(order.id);
      else if (order.kind === 'command') enqueue(queue, order);
    }
    const next = takeReady(engine, table, queue, notifyMain);
    if (next === null) table.sleep(engine, seen);
    else if (!carryOut(next, table, means, notifyMain)) await new Promise(() => {}); // it is being ended
  }
}

async function runHelper(
  member: number,
  pool: WorkerPool,
  workshop: ConstructorParameters<typeof Runners>[0],
  inbox: Inbox,
): Promise<never> {
  const runners = new Runners(workshop);
  for (;;) {
    const seen = pool.calls;
    for (const order of await inbox.take()) {
      if (order.kind === 'executable') runners.announce(order.id, order.executable);
      if (order.kind === 'forget') runners.forget(order.id);
    }
    help(member, pool, runners, workshop.port);
    pool.awaitCall(seen);
  }
}

/** Says that it has started, and holds a lock until it is gone. */
function begin(lock: string): void {
  const ready = () => self.postMessage(null);
  const { locks } = web.navigator ?? {};
  if (locks === undefined) ready();
  else
    void locks.request(lock, () => {
      ready();
      return new Promise(() => {});
    });
}

let inbox: Inbox | undefined;
self.onmessage = ({ data }) => {
  if (inbox !== undefined) inbox.receive(data as Order);
  else if (typeof data === 'object' && data !== null && 'lock' in data) begin(data.lock as string);
  else {
    const thread = data as WebThreadData;
    const mail = new MailOut(thread.mail, () => self.postMessage(null));
    inbox = new Inbox(mail);
    void start(thread, mail, inbox);
  }
};
