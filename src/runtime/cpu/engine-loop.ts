// The loop of an engine's thread: takes commands, waits for what they depend on, carries them out.
//
// It sleeps only when nothing is ready, and then is woken by whatever makes something ready.

import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { CommandTable } from './command-table.ts';
import { type CommandOrder, carryOut, enqueue, type TaskHandler, takeReady } from './engine-queue.ts';
import { collectGarbage } from './garbage.ts';
import type { Order, Report } from './messages.ts';

/** Runs an engine, for ever. */
export function runEngine(
  engine: number,
  table: CommandTable,
  port: MessagePort,
  now: () => number,
  handler: TaskHandler,
): never {
  const queue: CommandOrder[] = [];
  const notifyMain = () => port.postMessage({ kind: 'complete' } satisfies Report);

  table.setAlive(engine);
  for (;;) {
    const seen = table.signals(engine);
    receive(port, queue, handler);
    const next = takeReady(engine, table, queue, notifyMain);
    if (next === null) table.sleep(engine, seen);
    else if (!carryOut(next, table, { now, handler, port }, notifyMain)) park();
  }
}

/** The running command was cancelled: this thread is being terminated, and takes no other. */
function park(): never {
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** Empties the port into the queue. */
function receive(port: MessagePort, queue: CommandOrder[], handler: TaskHandler): void {
  for (let received = receiveMessageOnPort(port); received; received = receiveMessageOnPort(port)) {
    const order = received.message as Order;
    switch (order.kind) {
      case 'executable':
        handler.announce(order.id, order.executable);
        break;
      case 'forget':
        handler.forget(order.id);
        break;
      case 'collect':
        collectGarbage();
        break;
      case 'command':
        enqueue(queue, order);
    }
  }
}
