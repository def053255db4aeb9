// What the commands of a queue have in common: where it is, and for how long its server may be away.

import { Option } from 'commander';
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

/** The queue that was named, or that of the environment. Throws where none is. */
export async function addressOf(url: string | undefined) {
  const { queueAddress } = await import('../queue/url.ts');
  const named = url ?? process.env[urlVariable];
  if (named !== undefined && named !== '') return queueAddress(named);
  throw usageError(
    'no queue was named',
    `name the URL of a NATS server, for example nats://localhost:4222, here or as ${urlVariable} in the environment`,
  );
}
