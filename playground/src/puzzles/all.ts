// The course: the puzzles in their order.

import type { Puzzle } from './puzzle.ts';
import { schedulePuzzles } from './schedules.ts';
import { sharingPuzzles } from './sharing.ts';
import { stagePuzzles } from './stages.ts';
import { threadPuzzles } from './threads.ts';

export const puzzles: readonly Puzzle[] = [
  ...threadPuzzles,
  ...sharingPuzzles,
  ...stagePuzzles,
  ...schedulePuzzles,
];
