// Mutations of the queue: when a piece is acknowledged, who may have it, and what a worker takes.

import { mutationsOf } from './mutation.ts';

const long = ['test/queue/queue.test.ts'];
const sound = ['test/queue/sound.test.ts'];
const pauses = ['test/queue/pause.test.ts'];
const sequences = ['test/queue/sequences.test.ts'];
const taken = ['test/queue/taken.test.ts'];

export const mutations = [
  ...mutationsOf('src/queue/deal.ts', taken, [
    {
      name: 'runs of the same outputs share their streams',
      from: 'return namesOfKey(outputs, shortSum(run));',
      to: "return namesOfKey(outputs, '0'.repeat(16));",
      why: 'a piece of a former run that is acknowledged late takes one of the next away, which then waits for ever',
    },
  ]),
  ...mutationsOf('src/cli/run-queue.ts', sequences, [
    {
      name: 'each pass of a sequence has outputs of its own',
      from: 'namesOf(await outputsOf(passes), deal.run)',
      to: 'namesOf(idOfOutputs(pass.places), deal.run)',
      why: 'two runs of one output deal its passes to the same workers, and neither ends the other',
    },
  ]),
  ...mutationsOf('src/queue/connection.ts', taken, [
    {
      name: 'a message that no stream takes is offered for as long as a server may be away',
      from: 'await this.#streams.streams.info(stream);',
      to: '',
      why: 'a worker whose run is over ends, and says that the server has no JetStream',
    },
    {
      name: 'what is not there is an error like any other',
      from: 'throw error.status === 404 ? new Gone(error) : this.#answered(error);',
      to: 'throw this.#answered(error);',
      why: 'a worker ends with the first run that ends while it computes',
    },
  ]),
  ...mutationsOf('src/queue/dealer.ts', taken, [
    {
      name: 'a run goes on beside a later one',
      from: 'runs.some(({ created }) => isLater(created, own.created))',
      to: 'false',
      why: 'two runs that begin at the same time end each other',
    },
    {
      name: 'the run that began before stays',
      from: '.persist(() => streams.delete(stream))',
      to: '.persist(async () => stream)',
      why: 'a run that another has taken over from waits for pieces that nobody gets',
      tests: sequences,
    },
  ]),
  ...mutationsOf(
    'src/files/leftovers.ts',
    ['test/files/leftovers.test.ts'],
    [
      {
        name: 'the folders of living processes are removed',
        from: '-${pid}-`) || isAlive(Number(pid))) continue;',
        to: '-${pid}-`)) continue;',
        why: 'a server loses what it has stored when a second command starts one',
      },
      {
        name: 'what was replaced by a killed process stays',
        from: "if (kind === 'replaced' && !names.includes(of)) continue;",
        to: "if (kind === 'replaced') continue;",
        why: 'a store that nobody sees takes as much of the disk as the one that took its place',
      },
      {
        name: 'what was to be replaced goes, though nothing took its place',
        from: "if (kind === 'replaced' && !names.includes(of)) continue;",
        to: '',
        why: 'the only store that there is, is lost',
      },
    ],
  ),
  ...mutationsOf('src/queue/worker.ts', long, [
    {
      name: 'a piece is acknowledged before it is computed',
      from: 'await run.compute!(piece, signal);',
      to: 'message.ack();\n      await run.compute!(piece, signal);',
      why: 'a piece whose worker dies is computed by nobody, and the run never ends',
    },
    {
      name: 'a worker says nothing while it computes',
      from: 'const alive = setInterval(() => message.working(), deal.ackWait / 3);',
      to: 'const alive = setInterval(() => {}, deal.ackWait / 3);',
      why: 'pieces that take long are computed by one worker after the other, and end as poison',
    },
    {
      name: 'a piece that has failed too often is tried again',
      from: 'const final = tries >= deal.tries || !mayPass(error);',
      to: 'const final = tries > deal.tries || !mayPass(error);',
      why: 'a run with a piece that always fails waits for the server, and has lost why it fails',
    },
  ]),
  ...mutationsOf(
    'src/queue/worker.ts',
    ['test/queue/silence.test.ts'],
    [
      {
        name: 'a worker waits for the client of the server for ever',
        from: 'sleep(times.answer, null, { signal: ended }).catch(() => null)',
        to: 'new Promise<null>(() => ended)',
        why: 'workers whose command and server are gone stay until somebody finds them',
      },
    ],
  ),
  ...mutationsOf('src/queue/pause.ts', pauses, [
    {
      name: 'a message does not end a pause',
      from: '      this.#end?.abort();',
      to: '',
      why: 'workers begin half a second late, and the run ends a tenth late',
    },
    {
      name: 'a message that came before a pause is forgotten',
      from: '    if (!this.#isHeard) {',
      to: '    this.#isHeard = false;\n    if (!this.#isHeard) {',
      why: 'who was busy when it came waits for the whole pause',
    },
    {
      name: 'pauses stay as short as the first',
      from: 'this.#next = Math.min(2 * this.#next, this.#milliseconds.most);',
      to: '',
      why: 'idle workers ask the server fifty times a second',
    },
    {
      name: 'a pause leaves its subscription behind',
      from: 'this.#subscription.unsubscribe();',
      to: '',
      why: 'each pass of a run leaves one more on the server',
    },
    {
      name: 'a message is heard again and again',
      from: '    this.#isHeard = false;\n  }',
      to: '  }',
      why: 'after the first message the server is asked without a pause',
    },
  ]),
  ...mutationsOf('src/cli/worker.ts', long, [
    {
      name: 'the text of a module is not compared',
      from: 'if (sumOfModule(text) !== deal.moduleSum) {',
      to: 'if (sumOfModule(text) === undefined) {',
      why: 'machines with different files compute pieces of one output',
    },
    {
      name: 'files outside of the folder are taken',
      from: 'checkAllowed(file, []);\n    await checkWithin(file, folder);',
      to: 'checkAllowed(file, []);\n    await checkWithin(folder, folder);',
      why: 'who may write to the server has a worker run any module of its machine',
    },
    {
      name: 'what a reduction writes may lie anywhere',
      from: 'deal.places, deal.journal ?? []]',
      to: 'deal.places, []]',
      why: 'who may write to the server has a worker write outside of its folder',
      tests: sequences,
    },
    {
      name: 'every pass of a sequence is its first',
      from: 'return jobs[pass.number - 1]!;',
      to: 'return jobs[0]!;',
      why: 'workers refuse all passes of a sequence but the first',
      tests: sequences,
    },
    {
      name: 'another number of passes is taken',
      from: 'if (jobs.length === pass.of)',
      to: 'if (jobs.length >= 1)',
      why: 'a worker whose sequence has other passes computes one of them, or fails without a word of why',
      tests: sequences,
    },
    {
      name: 'what the pass before found is left out',
      from: 'settingsOfText(deal.pass?.computed ?? {})',
      to: 'settingsOfText({})',
      why: 'workers compute with the defaults of settings in the place of what a sequence has found',
      tests: sequences,
    },
  ]),
  ...mutationsOf('src/cli/run-queue.ts', sequences, [
    {
      name: 'pieces of accumulators are left',
      from: 'if (pass.journal !== undefined) for (const place of places) await removePieces(place, of);',
      to: 'void [places, of, pass, removePieces];',
      why: 'a run leaves the pieces of its reductions, and the next one takes them',
    },
    {
      name: 'the settings of the whole are described for each pass',
      from: ': { input: pass.input, settings: pass.given })',
      to: ': { input: pass.input, settings: set })',
      why: 'a sequence of which one pass alone has a setting is refused when a pass is through',
    },
  ]),
  ...mutationsOf('src/cli/queue-pieces.ts', sequences, [
    {
      name: 'a later pass may read other files',
      from: 'JSON.stringify(a) !== JSON.stringify(b)',
      to: 'JSON.stringify(a) === undefined && b === undefined',
      why: 'where a pattern finds one more file before the second pass, the two passes read different inputs, and no error says so',
    },
    {
      name: 'pieces of other settings are taken',
      from: 'piece.work[name] !== work[name]',
      to: 'piece.work[name] === undefined',
      why: 'an output is put together of pieces with two means',
    },
  ]),
  ...mutationsOf(
    'src/overlap/shards/input-stamps.ts',
    ['test/overlap/shards.test.ts'],
    [
      {
        name: 'pieces of files with other times are taken',
        from: 'if (!isSameTime(BigInt(a.written), BigInt(b.written))) {',
        to: 'if (a.written === undefined) {',
        why: 'an input that is rewritten at its length between two shards makes an output of old and new numbers',
      },
      {
        name: 'only the time of writing counts',
        from: 'a.inode === b.inode && a.changed !== b.changed',
        to: 'a.inode === undefined && a.changed !== b.changed',
        why: 'an input that is rewritten and gets its old time back passes for the same',
      },
      {
        name: 'the last change counts for copies',
        from: 'if (a.inode === b.inode && ',
        to: 'if (',
        why: 'machines with copies of an input cannot share the work',
      },
      {
        name: 'rights that changed are a change of the content',
        from: ' && a.outside === b.outside',
        to: '',
        why: 'a chmod between two shards has all of them computed again',
      },
      {
        name: 'the files are not looked at again',
        from: "'version' in stamp ? undefined : await stampOf(stamp.path);",
        to: 'undefined as Stamp | undefined;',
        why: 'an input that was rewritten after the last shard gives an output of what it was, and nobody is told',
      },
      {
        name: 'a piece is compared with the first alone',
        from: 'former.set(key, { piece, stamp });',
        to: 'if (former.size === 0) former.set(key, { piece, stamp });',
        why: 'two pieces of which each may be of the same file as the first, and which are of two, are put together',
      },
    ],
  ),
  ...mutationsOf('src/overlap/outputs.ts', sound, [
    {
      name: 'the shape of an output that is cut is not looked at',
      from: 'encodingOf(file, format, about).begin?.(about.shape);',
      to: 'encodingOf(file, format, about);',
      why: 'all machines compute the pieces of a picture that cannot be one, and merging them fails',
    },
  ]),
  ...mutationsOf('src/overlap/shards/describe-cut.ts', sound, [
    {
      name: 'outputs are not looked at before pieces are dealt',
      from: 'checkWhole(data, { parameter: name, element, rate, shape: run.shapes[i]! });',
      to: 'void checkWhole;\n          void data;',
      why: 'each worker refuses its piece of an output that nobody can write, and the run ends as one with failed pieces',
    },
  ]),
  ...mutationsOf('src/overlap/shards/newer.ts', long, [
    {
      name: 'any piece is new enough',
      from: 'at > mtimeNs',
      to: 'at < 0n',
      why: 'an input that was changed between two runs makes an output of old and new pieces, and nobody is told',
    },
  ]),
  ...mutationsOf('src/queue/dealer.ts', long, [
    {
      name: 'the last worker that refuses is waited for',
      from: 'this.#refused.size >= most',
      to: 'this.#refused.size > most',
      why: 'a run whose own workers all refuse never ends',
    },
  ]),
  ...mutationsOf('src/queue/url.ts', long, [
    {
      name: 'a URL that is wrong is shown with its password',
      from: 'and not ${withoutCredentials(all)}`',
      to: 'and not ${all}`',
      why: 'passwords are in the logs of schedulers',
    },
  ]),
  ...mutationsOf('src/overlap/shards/reductions.ts', long, [
    {
      name: 'what an accumulator begins with counts in each piece',
      from: "shard[0] === 1 || typeof declaration.combine === 'function'",
      to: "shard[0] > 0 || typeof declaration.combine === 'function'",
      why: 'a sum over a queue differs from that of one process by what it begins with',
    },
  ]),
  ...mutationsOf('src/overlap/accumulate.ts', long, [
    {
      name: 'parts of a reduction are combined from the last to the first',
      from: 'const [first, ...others] = parts as [TypedArray, ...TypedArray[]];',
      to: 'const [first, ...others] = [...parts].reverse() as [TypedArray, ...TypedArray[]];',
      why: 'a reduction whose order matters gives another value than its order says',
    },
  ]),
];
