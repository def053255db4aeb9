// All cases, by their subject.

import type { Cases } from './case.ts';
import { placementCases } from './cases/placement.ts';
import { roleCases } from './cases/roles.ts';
import { stageCases } from './cases/stages.ts';

export const allCases: Readonly<Record<string, Cases>> = {
  placement: placementCases,
  roles: roleCases,
  stages: stageCases,
};
