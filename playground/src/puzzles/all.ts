// The course: the puzzles in their order.

import { lanePuzzles } from './lanes.ts';
import { patternPuzzles } from './patterns.ts';
import type { Puzzle } from './puzzle.ts';
import { schedulePuzzles } from './schedules.ts';
import { sharingPuzzles } from './sharing.ts';
import { stagePuzzles } from './stages.ts';
import { threadPuzzles } from './threads.ts';

export const puzzles: readonly Puzzle[] = [
  ...threadPuzzles,
  ...sharingPuzzles,
  ...patternPuzzles,
  ...lanePuzzles,
  ...stagePuzzles,
  ...schedulePuzzles,
];
