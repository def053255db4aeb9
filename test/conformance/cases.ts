// All cases, by their subject.

import type { Cases } from './case.ts';
import { arrayCases } from './cases/arrays.ts';
import { copyCases } from './cases/copies.ts';
import { fenceCases } from './cases/fences.ts';
import { numberCases } from './cases/numbers.ts';
import { orderCases } from './cases/orders.ts';
import { pipelinedCases } from './cases/pipelined.ts';
import { placementCases } from './cases/placement.ts';
import { portCases } from './cases/ports.ts';
import { quitCases } from './cases/quits.ts';
import { randomCases } from './cases/random.ts';
import { recordCases } from './cases/records.ts';
import { roleCases } from './cases/roles.ts';
import { shapeCases } from './cases/shapes.ts';
import { stageCases } from './cases/stages.ts';
import { subsetCases } from './cases/subsets.ts';
import { timeCases } from './cases/time.ts';
import { voteCases } from './cases/votes.ts';

export const allCases: Readonly<Record<string, Cases>> = {
  placement: placementCases,
  roles: roleCases,
  quits: quitCases,
  stages: stageCases,
  subsets: subsetCases,
  pipelined: pipelinedCases,
  copies: copyCases,
  arrays: arrayCases,
  shapes: shapeCases,
  records: recordCases,
  fences: fenceCases,
  orders: orderCases,
  time: timeCases,
  votes: voteCases,
  numbers: numberCases,
  random: randomCases,
  ports: portCases,
};
