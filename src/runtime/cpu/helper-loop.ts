// The loop of a thread of the pool beside the lead: waits for launches, and takes part in them.

import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { help, Runners, type Workshop } from './computing.ts';
import type { Order } from './messages.ts';
import type { WorkerPool } from './worker-pool.ts';

/** What a helper runs kernels with; orders come by its port. */
export interface HelperWorkshop extends Workshop {
  readonly port: MessagePort;
}

/** Runs a helper, for ever. */
export function runHelper(member: number, pool: WorkerPool, workshop: HelperWorkshop): never {
  const { port } = workshop;
  const runners = new Runners(workshop);
  for (;;) {
    const seen = pool.calls;
    for (let received = receiveMessageOnPort(port); received; received = receiveMessageOnPort(port)) {
      const order = received.message as Order;
      if (order.kind === 'executable') runners.announce(order.id, order.executable);
      if (order.kind === 'forget') runners.forget(order.id);
    }
    help(member, pool, runners, port);
    pool.awaitCall(seen);
  }
}
