// The surroundings of a device in Node whose kernels are interpreted.

import { text } from './interpreting-worker.text.js';
import { threadsOf } from './threads.ts';

export const threads = threadsOf(text);
