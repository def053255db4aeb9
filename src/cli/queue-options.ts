// What the commands of a queue have in common: where it is, and for how long its server may be away.

import { Option } from 'commander';
import { type QueueAddress, queueAddress } from '../queue/url.ts';
import { usageError } from './failure.ts';
import { parseDuration } from './values.ts';

/** The environment's name for the URL of a queue: credentials in it are not seen in lists of processes. */
export const urlVariable = 'WARPSTAGE_QUEUE';

/** Seconds. */
export const usually = { patience: 60, ackWait: 30 } as const;

export const patienceOption = () =>
  new Option('--patience <duration>', 'how long the server of the queue may be away')
    .argParser(parseDuration)
    .default(usually.patience, '60s');

/** The queue that was named, or that of the environment; undefined where there is none. */
export function addressIfAny(url: string | undefined): QueueAddress | undefined {
  const named = url ?? process.env[urlVariable] ?? '';
  return named === '' ? undefined : queueAddress(named);
}

/** The same. Throws where there is none. */
export function addressOf(url: string | undefined): QueueAddress {
  const address = addressIfAny(url);
  if (address !== undefined) return address;
  throw usageError(
    'no queue was named',
    `name the URL of a NATS server, for example nats://localhost:4222, here or as ${urlVariable} in the environment`,
  );
}
