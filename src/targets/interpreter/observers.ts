// Several observers, each of which listens to some events only, as the checker's do; to the
// interpreter they are one.

import type { Observer } from './observer.ts';

/** An observer that listens to some events only. */
export type PartialObserver = Partial<Observer>;

type Listener = (...event: never[]) => void;

const silence = () => {};

/** One observer that passes each event to all that listen to it, in their order. */
export function combineObservers(parts: readonly PartialObserver[]): Observer {
  const together = <Name extends keyof Observer>(name: Name): Observer[Name] => {
    const listeners = parts.flatMap((part) => {
      const listener = part[name];
      return listener === undefined ? [] : [listener.bind(part) as Listener];
    });
    return fanOut(listeners) as Observer[Name];
  };
  return {
    launchBegan: together('launchBegan'),
    launchEnded: together('launchEnded'),
    blockBegan: together('blockBegan'),
    blockEnded: together('blockEnded'),
    threadEnded: together('threadEnded'),
    read: together('read'),
    write: together('write'),
    update: together('update'),
    wrapped: together('wrapped'),
    issued: together('issued'),
    delivered: together('delivered'),
    bound: together('bound'),
    arrived: together('arrived'),
    waited: together('waited'),
    proxyFenced: together('proxyFenced'),
    fenced: together('fenced'),
    syncBegan: together('syncBegan'),
    syncEnded: together('syncEnded'),
    lanesMet: together('lanesMet'),
    makeBegan: together('makeBegan'),
    made: together('made'),
    acquireBegan: together('acquireBegan'),
    acquired: together('acquired'),
    committed: together('committed'),
    waitBegan: together('waitBegan'),
    waitEnded: together('waitEnded'),
    waitGaveUp: together('waitGaveUp'),
    released: together('released'),
    quit: together('quit'),
  };
}

// Accesses come by the million: arguments are passed without an array of them. No event has more than six.
type Six = (a: unknown, b: unknown, c: unknown, d: unknown, e: unknown, f: unknown) => void;

function fanOut(listeners: readonly Listener[]): Listener {
  const [first, second, third, ...others] = listeners as readonly Six[];
  if (first === undefined) return silence;
  if (second === undefined) return first as Listener;
  const both: Six =
    third === undefined
      ? (a, b, c, d, e, f) => {
          first(a, b, c, d, e, f);
          second(a, b, c, d, e, f);
        }
      : (a, b, c, d, e, f) => {
          first(a, b, c, d, e, f);
          second(a, b, c, d, e, f);
          third(a, b, c, d, e, f);
        };
  return (others.length === 0 ? both : fanOut([both as Listener, ...(others as Listener[])])) as Listener;
}
