// A store of objects for the tests of a file, which forgets between them; the environment leads to it.

import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { restoreEnvironment } from '../support/environment.ts';
import { ObjectStore } from './object-store.ts';

export { type Asked, type Fault, keyId, secret } from './object-store.ts';

export function useStore(): ObjectStore {
  const store = new ObjectStore();
  beforeAll(() => store.listen());
  afterAll(() => store.close());
  const before = { ...process.env };
  beforeEach(() => {
    Object.assign(process.env, store.environment);
  });
  afterEach(() => {
    restoreEnvironment(before);
    store.forget();
  });
  return store;
}
