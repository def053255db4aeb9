// All misuses, a file a family.

import { accesses } from './accesses.ts';
import { advice } from './advice.ts';
import { barriers } from './barriers.ts';
import { deadlocks } from './deadlocks.ts';
import { groups } from './groups.ts';
import { lanes } from './lanes.ts';
import { memory } from './memory.ts';
import type { Misuse } from './misuse.ts';
import { order } from './order.ts';
import { guide, pages } from './published.ts';
import { quitting } from './quitting.ts';
import { races } from './races.ts';
import { roles } from './roles.ts';
import { grids, warps } from './warps.ts';

export const corpus: readonly Misuse[] = [
  ...order,
  ...quitting,
  ...roles,
  ...groups,
  ...deadlocks,
  ...races,
  ...memory,
  ...accesses,
  ...guide,
  ...pages,
  ...barriers,
  ...warps,
  ...grids,
  ...lanes,
  ...advice,
];
