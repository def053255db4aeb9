// An assertion of a kernel that does not hold, as every target reports it.

import type { Fault } from './executable.ts';

type Misuse = Extract<Fault, { kind: 'misuse' }>;

/** What is wrong, in the words of the assertion's message. */
export function assertionFault(message: string): Pick<Misuse, 'kind' | 'code' | 'message' | 'hint'> {
  return {
    kind: 'misuse',
    code: 'WS3012',
    message,
    hint: 'of the threads that find it so, this is the first that was noticed',
  };
}
