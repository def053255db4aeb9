// The rules of the protocol are about one block each. Blocks may run together, as those of a grid that
// synchronises do, so each has rules of its own, which hear of its threads alone.

import type { Block } from '../../interpreter/block.ts';
import type { Observer } from '../../interpreter/observer.ts';
import { combineObservers, type PartialObserver } from '../../interpreter/observers.ts';
import type { Thread } from '../../interpreter/thread.ts';

/** Events that the rules listen to: none of those that come by the million. */
type Event = Exclude<
  keyof Observer,
  'launchBegan' | 'launchEnded' | 'blockBegan' | 'blockEnded' | 'read' | 'write' | 'update' | 'wrapped'
>;

/** What observes all blocks, by what `make` gives for each. */
export function perBlock(make: (block: Block) => readonly PartialObserver[]): PartialObserver {
  const rules = new Map<Block, Observer>();
  const pass = <Name extends Event>(
    name: Name,
    threadOf: (...event: Parameters<Observer[Name]>) => Thread | undefined,
  ): Pick<Observer, Name> => {
    const listener = (...event: Parameters<Observer[Name]>) => {
      const thread = threadOf(...event);
      if (thread === undefined) return;
      const own = rules.get(thread.block)!;
      (own[name] as (...event: Parameters<Observer[Name]>) => void)(...event);
    };
    return { [name]: listener } as unknown as Pick<Observer, Name>;
  };
  const first = (thread: Thread) => thread;
  return {
    blockBegan(block) {
      const own = combineObservers(make(block));
      rules.set(block, own);
      own.blockBegan(block);
    },
    blockEnded(block) {
      rules.get(block)!.blockEnded(block);
      rules.delete(block);
    },
    /** Blocks are left where a fault stopped them. */
    launchEnded(launch, fault) {
      for (const own of rules.values()) own.launchEnded(launch, fault);
    },
    ...pass('threadEnded', first),
    ...pass('issued', ({ thread }) => thread),
    ...pass('delivered', ({ thread }) => thread),
    ...pass('bound', (copies) => copies[0]?.thread),
    ...pass('arrived', first),
    ...pass('waited', first),
    ...pass('syncBegan', first),
    ...pass('syncEnded', first),
    ...pass('lanesMet', first),
    ...pass('makeBegan', first),
    ...pass('made', first),
    ...pass('acquireBegan', first),
    ...pass('acquired', first),
    ...pass('committed', first),
    ...pass('waitBegan', first),
    ...pass('waitEnded', first),
    ...pass('waitGaveUp', first),
    ...pass('released', first),
    ...pass('quit', first),
  };
}
