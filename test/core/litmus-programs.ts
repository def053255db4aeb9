// The litmus programs: each a rule of the hardware that lowerings must keep, and what it shows.

import './litmus-arrivals.ts';
import './litmus-copies.ts';
import './litmus-groups.ts';

export { type LitmusProgram, litmusPrograms } from './litmus-list.ts';
