// Which test files are stuck, as the pipeline asks before it ends their processes and all that they were at.

import { expect, test } from 'vitest';
import { UnderWay } from './under-way.ts';

const file = (name: string, project = 'shared') => ({ id: `${project} ${name}`, moduleId: name });

test('a file is stuck of which nothing was told for longer than the limit, at what it was last', () => {
  const run = new UnderWay();
  run.begin(file('a'), 0);
  run.begin(file('b'), 10);
  run.note(file('b'), 'the first test', 20);
  expect(run.stuck(100, 100)).toEqual([]);
  expect(run.stuck(101, 100)).toMatchObject([{ file: 'a', at: 'its beginning' }]);
  expect(run.stuck(121, 100)).toMatchObject([{ file: 'a' }, { file: 'b', at: 'the first test' }]);
  run.end(file('a'), 122);
  expect(run.stuck(200, 100)).toMatchObject([{ file: 'b' }]);
  expect(run.last).toBe(122);
  run.clear(201);
  expect(run.stuck(1000, 100)).toEqual([]);
});

test('a file that has ended is not stuck, though its last tests are told of afterwards', () => {
  const run = new UnderWay();
  run.begin(file('a'), 0);
  run.end(file('a'), 10);
  run.note(file('a'), 'what follows its last test', 11);
  expect(run.stuck(1000, 100)).toEqual([]);
  expect(run.last).toBe(11);
});

test('one that another project runs as well, or that is begun once more, is a file of its own', () => {
  const run = new UnderWay();
  run.begin(file('a'), 0);
  run.end(file('a'), 10);
  run.begin(file('a', 'delayed'), 20);
  expect(run.stuck(200, 100)).toMatchObject([{ file: 'a' }]);
  run.end(file('a', 'delayed'), 200);
  run.begin(file('a'), 210);
  expect(run.stuck(400, 100)).toMatchObject([{ file: 'a' }]);
});
