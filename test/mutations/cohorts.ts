// Mutations of cohorts: what threads become for a CPU where they wait for one another.

import { mutationsOf } from './mutation.ts';

const cohorts = ['test/core/cohort-ways.test.ts', 'test/core/cohorts.test.ts'];

export const mutations = [
  ...mutationsOf('src/targets/legalise/cpu/cohorts.ts', cohorts, [
    {
      name: 'uniform work goes in front of what reads or assigns the same',
      from: 'return ![...assigned].some((variable) => touched.has(variable));',
      to: 'return assigned.size >= 0;',
      why: 'threads read a counter of the turn that comes',
    },
    {
      name: 'uniform work goes in front of threads that leave',
      from: 'if (canFail(statement) || exitsOf(pending).length > 0) return false;',
      to: 'if (canFail(statement)) return false;',
      why: 'threads that leave a loop take with them what only the others compute',
    },
    {
      name: 'an arrival that may be the last has company',
      from: 'if (counts) this.#flush();',
      to: '',
      why: 'what stands beside an arrival is done thread by thread, and not in lanes',
      equivalent:
        'what stands before an arrival and what follows it may be done by a thread at once: threads of a region come in any order. It costs time alone',
    },
    {
      name: 'a loop that is left keeps nothing that is read behind it',
      from: 'break: { to: exit, live: after },\n      continue:',
      to: 'break: { to: exit, live: 0n },\n      continue:',
      why: 'a thread that breaks out of a loop has lost its sums',
    },
    {
      name: 'threads that fail a test keep nothing',
      from: 'exits: [this.#exit({ to: otherwise, live })] });\n  }\n\n  /** Ends',
      to: 'exits: [this.#exit({ to: otherwise, live: 0n })] });\n  }\n\n  /** Ends',
      why: 'the threads of the other branch compute with zeros',
    },
    {
      name: 'a wait keeps nothing',
      from: 'const to: Draft = { head: { wait: call, live, loads }, steps: [], end: null };',
      to: 'const to: Draft = { head: { wait: call, live: [], loads }, steps: [], end: null };',
      why: 'after a barrier all counters are zero',
    },
    {
      name: 'a thread that waits finds nothing of its own',
      from: 'const to: Draft = { head: { wait: call, live, loads }, steps: [], end: null };',
      to: 'const to: Draft = { head: { wait: call, live, loads: [] }, steps: [], end: null };',
      why: 'each thread waits for the phase of the one before it',
    },
    {
      name: 'a loop that is tested behind its body runs once more',
      from: 'else this.#branch(loop.test, head, exit, live);',
      to: 'else this.#branch(loop.test, head, head, live);',
      why: 'a do loop never ends',
    },
    {
      name: 'what threads assign in a region stays in it',
      from: 'variable) => assigned.has(variable) && has(liveAfter, variable));',
      to: 'variable) => assigned.has(variable) && has(liveAfter, variable) && variable < 0);',
      why: 'each region begins with what was there before the one in front of it',
    },
    {
      name: 'what a test reads is not loaded',
      from: 'const read = new Set([...readIn(statements), ...given.flatMap((value) => [...readBy(value)])]);',
      to: 'const read = new Set(readIn(statements));',
      why: 'threads part by what is not theirs',
    },
  ]),
  ...mutationsOf('src/targets/legalise/cpu/meetings.ts', cohorts, [
    {
      name: 'a thread waits for one time less',
      from: "test: words.compare('greaterEqual', beyond(this.times(words)), number(0)),",
      to: "test: words.compare('greaterEqual', beyond(before()), number(0)),",
      why: 'who comes first goes on without the others',
    },
    {
      name: 'one that returns takes nothing back',
      from: "const back = words.binary('subtract', words.constant('i32', 0), this.times(words));",
      to: "const back = words.constant('i32', 0);",
      why: 'the others go on before all of them are there',
    },
    {
      name: 'one that returns publishes nothing',
      from: 'this.#post(this.#came, back, this.times(words), words),',
      to: 'this.#post(this.#came, back, null, words),',
      why: 'what it did is not ordered before what others do after they meet',
    },
    {
      name: 'who comes publishes nothing',
      from: 'this.#post(this.#came, one, this.times(words), words),',
      to: 'this.#post(this.#came, one, null, words),',
      why: 'a sync orders nothing',
    },
    {
      name: 'those who returned are waited for',
      from: "(this.#left === null ? size() : words.binary('subtract', size(), left()));",
      to: 'size();',
      why: 'the others wait for ever',
    },
  ]),
  ...mutationsOf('src/targets/legalise/cpu/stages.ts', cohorts, [
    {
      name: 'a stage is read one use too early',
      from: "const times = fills ? uses() : words.binary('add', uses(), one);",
      to: 'const times = uses();',
      why: 'consumers read what was there before',
    },
    {
      name: 'a stage is filled without end',
      from: "const times = fills ? uses() : words.binary('add', uses(), one);",
      to: "const times = fills ? words.binary('subtract', uses(), one) : words.binary('add', uses(), one);",
      why: 'producers overwrite what is still read',
    },
    {
      name: 'a cursor goes round and forgets that it did',
      from: "words.when(isLast, [words.assign(stage, words.constant('i32', 0)), next(use)]),",
      to: "words.when(isLast, [words.assign(stage, words.constant('i32', 0))]),",
      why: 'from the second round on nobody waits',
    },
    {
      name: 'a stage is made one later',
      from: "const isLast = words.compare('equal', read(stage), words.constant('i32', this.#declaration.stages));",
      to: "const isLast = words.compare('greater', read(stage), words.constant('i32', this.#declaration.stages));",
      why: 'threads count in the word of another stage',
    },
    {
      name: 'a commit and a release publish nothing',
      from: 'this.#sharing.post(done, index, 1, words, { phase: read(use) }),',
      to: 'this.#sharing.post(done, index, 1, words, { phase: null }),',
      why: 'who waits for a stage knows nothing of it',
    },
    {
      name: 'a pipeline that is made again counts on',
      from: '...forEachIndex(this.#frame, stages, clear, words),',
      to: '',
      why: 'a stage seems to be there before it is filled',
    },
    {
      name: 'consumers are as many as producers',
      from: 'const expected = () => (fills ? this.#making.consumers(words) : this.#making.producers(words));',
      to: 'const expected = () => this.#making.producers(words);',
      why: 'where there are not as many of both, a stage is filled too early or never',
    },
  ]),
  ...mutationsOf('src/targets/legalise/cpu/records.ts', cohorts, [
    {
      name: 'a thread overwrites what others expect of a barrier',
      from: "words.compare('equal', proposed(), zero()),",
      to: "words.compare('greaterEqual', proposed(), zero()),",
      why: 'threads that expect different numbers of arrivals wait for ever, and no mistake is reported',
      tests: ['test/barriers/misuse.test.ts'],
    },
    {
      name: 'an arrival publishes nothing',
      from: 'this.#post(index, by, load(this.#over), words),',
      to: 'this.#post(index, by, null, words),',
      why: 'who waits at a barrier knows nothing of the others',
    },
    {
      name: 'who arrives last begins no phase',
      from: "return [words.when(isLast(), this.#next(index, 'begun', words))];",
      to: 'return [];',
      why: 'all wait for ever',
    },
    {
      name: 'a wait is over before its phase',
      from: "const isOver = words.compare('greater', over(), awaited());",
      to: "const isOver = words.compare('greaterEqual', over(), awaited());",
      why: 'threads go on before others have arrived',
    },
    {
      name: 'barriers that are made again count on',
      from: 'words.store(this.#over, this.#slot(index, words), zero()),',
      to: '',
      why: 'the first phase seems to be over',
    },
    {
      name: 'the next phase awaits one arrival less',
      from: "const expected = words.load(this.#expected, this.#slot(index, words), 'i32');",
      to: "const expected = words.binary('subtract', words.load(this.#expected, this.#slot(index, words), 'i32'), words.constant('i32', 1));",
      why: 'threads go on before the last has arrived',
    },
    {
      name: 'what was proposed stays',
      from: 'words.store(this.#proposed, at(), zero()),',
      to: '',
      why: 'a barrier that is made again with another number is refused',
    },
  ]),
  ...mutationsOf('src/targets/legalise/cpu/making.ts', cohorts, [
    {
      name: 'producers are consumers',
      from: "return [words.when(producers!, [...enter('producer'), add], enter('consumer'))];",
      to: "return [words.when(producers!, [...enter('consumer'), add], enter('producer'))];",
      why: 'each thread is refused the verbs of its role',
    },
    {
      name: 'who comes later sets up again',
      from: 'words.store(opened, this.#at(words), times()),',
      to: '',
      why: 'what was counted in the meantime is lost',
    },
    {
      name: 'producers of the time before are counted again',
      from: "words.store(brought, this.#at(words), words.constant('i32', 0)),",
      to: '',
      why: 'a stage waits for producers that there are none of',
    },
    {
      name: 'nobody waits for the others to make it',
      from: 'meeting.wait(waiting, words),',
      to: '',
      why: 'a thread sets up what another still uses',
    },
  ]),
  ...mutationsOf(
    'src/targets/interpreter/cohorts.ts',
    ['test/core/cohort-ways.test.ts', 'test/core/cohorts.test.ts'],
    [
      {
        name: 'a head forgets nothing',
        from: 'for (const id of this.values.keys()) if (!live.includes(id)) delete this.values[id];',
        to: '',
        why: 'a variable that no head keeps is there all the same, and WebAssembly has lost it',
      },
      {
        name: 'threads that leave keep all',
        from: 'other.keep(this.#way.segments[segment]!.head!.live);',
        to: '',
        why: 'what an entry does not keep is there in the interpreter, and WebAssembly has lost it',
        equivalent: 'the head of the entry, where the others begin, forgets it at once',
      },
      {
        name: 'a cohort waits until all can go on',
        from: 'const ready = () => cohort.members.some(isReady);',
        to: 'const ready = () => cohort.members.every(isReady);',
        why: 'threads whose partners are in the same cohort wait for ever',
      },
      {
        name: 'a cohort never parts at a wait',
        from: 'if (late.length > 0) part(cohort, late);',
        to: '',
        why: 'threads go on before what they wait for',
      },
      {
        name: 'threads of a cohort may come to different values',
        from: 'for (const id of assigned) agree(cohort.values, left, id);',
        to: 'for (const id of assigned) cohort.values[id] = left[0]![id]!;',
        why: 'what a lowering does once though threads differ stays unseen',
      },
    ],
  ),
];
