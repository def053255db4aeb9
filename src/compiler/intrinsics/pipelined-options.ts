// The options of cuda.pipelined, and what its `copy` gives: objects, whose members are checked like arguments.

import type { Node } from 'acorn';
import type { Form } from '../../kernel/intrinsics.ts';
import type { Expression } from '../ir.ts';
import type { Lowering } from '../lowering.ts';
import { nearestName } from '../nearest.ts';
import type { ObjectValue, ViewValue } from '../values.ts';
import { checkArguments } from './arguments.ts';
import type { ArgumentTypes, IntrinsicCall } from './handler.ts';

/** What the object of a call has, by the names of its members. */
export interface Options {
  readonly group: ArgumentTypes['group or its lanes'];
  readonly stages: number;
  readonly batches: Expression;
  readonly copy: ArgumentTypes['function'];
  readonly use: ArgumentTypes['function'];
  readonly role?: ArgumentTypes['role'];
  readonly producers?: Expression;
}

const unified = {
  group: 'group or its lanes',
  stages: 'constant',
  batches: 'index',
  copy: 'function',
  use: 'function',
} as const;
const forms = {
  unified,
  role: { ...unified, group: 'block, tile or its lanes', role: 'role' },
  producers: { ...unified, group: 'block, tile or its lanes', producers: 'index' },
} as const satisfies Readonly<Record<string, Form>>;

/** A copy, as `copy` gives it. */
export interface Copy {
  readonly source: ViewValue;
  readonly count: ArgumentTypes['count'];
  readonly room?: Expression;
  readonly at?: Expression;
  readonly by?: ArgumentTypes['group or lanes'];
}

export const copyForm = {
  source: 'readonly array',
  count: 'count',
  room: 'index?',
  at: 'index?',
  by: 'group or lanes?',
} as const;

export const verbs = 'cuda.makePipeline, producerAcquire, cuda.memcpyAsync, producerCommit, …';

export function optionsOf(call: IntrinsicCall<'cuda.pipelined'>, place: (member: string) => Node): Options {
  const { members } = call.args.options;
  if (members.has('role') && members.has('producers')) {
    call.lowering.fail(
      place('producers'),
      'WS1009',
      `${call.name} takes role or producers, and is given both`,
      'with a role each thread says its part; with a number those of the lowest ranks copy',
    );
  }
  const form = members.has('role') ? 'role' : members.has('producers') ? 'producers' : 'unified';
  return membersOf(call.lowering, call.name, call.args.options, forms[form], place, call.at('options'), {
    ...forms.role,
    ...forms.producers,
  }) as Options;
}

/** The members of an object, checked and converted as their kinds say; `known` are others that it might have. */
export function membersOf(
  lowering: Lowering,
  what: string,
  { members }: ObjectValue,
  form: Form,
  place: (member: string) => Node,
  whole: Node,
  known: Form = form,
): unknown {
  const names = Object.keys(form);
  for (const name of members.keys()) {
    if (names.includes(name)) continue;
    const nearest = nearestName(name, Object.keys(known));
    const others = `what it does not say is written by the verbs: ${verbs}`;
    const ofCopy = form !== copyForm && Object.hasOwn(copyForm, name);
    lowering.fail(
      place(name),
      'WS1009',
      `${what} has no '${name}'`,
      ofCopy
        ? `it stands in what copy gives: { source, count, ${name} }`
        : nearest === null
          ? others
          : `did you mean '${nearest}'? ${others}`,
    );
  }
  const given = names.flatMap((name) => {
    const value = members.get(name);
    if (value !== undefined && value.kind !== 'undefined') return [{ name, value, node: place(name) }];
    if (form[name]!.endsWith('?')) return [];
    return lowering.fail(
      whole,
      'WS1009',
      `${what} is not given '${name}'`,
      `it takes { ${names.join(', ')} }`,
    );
  });
  const present = Object.fromEntries(given.map(({ name }) => [name, form[name]!]));
  return checkArguments(lowering, what, [present], given, whole);
}
