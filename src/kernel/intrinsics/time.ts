// The intrinsics of time.

import type { Intrinsic } from './entry.ts';

export const timeIntrinsics = {
  'cuda.globaltimer': {
    cuda: '%globaltimer',
    forms: [{}],
    result: 'f64',
    doc: 'The time in nanoseconds, by one clock for all threads.',
  },
  'cuda.clock64': {
    cuda: 'clock64()',
    forms: [{}],
    result: 'f64',
    doc: 'A count of cycles: of the multiprocessor on a GPU, of nanoseconds elsewhere.',
  },
  'cuda.nanosleep': {
    cuda: '__nanosleep(duration)',
    forms: [{ duration: 'nanoseconds' }],
    result: 'nothing',
    doc: 'Suspends the thread for about so many nanoseconds, at most a million, and lets others go on.',
  },
} as const satisfies Readonly<Record<string, Intrinsic>>;
