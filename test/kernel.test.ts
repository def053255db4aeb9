import { expect, test } from 'vitest';
import { kernel } from 'warpstage';

test('a kernel keeps its schema and function', () => {
  const body = ({ y }: { y: unknown }) => void y;
  expect(kernel({ y: 'f32[]' }, body).schema).toEqual({ y: 'f32[]' });
});
