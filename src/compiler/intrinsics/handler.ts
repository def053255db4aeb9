// The form of a handler: how the front end lowers an intrinsic.
//
// What a handler is given follows from the table: its arguments by their names there, checked
// and converted as their kinds say.

import type { Node } from 'acorn';
import type {
  ArgumentKind,
  Combination,
  Form,
  FormTable,
  IntrinsicName,
  MemoryOrder,
  MemoryScope,
} from '../../kernel/intrinsics.ts';
import type { Element } from '../../kernel/types.ts';
import type { Expression } from '../ir.ts';
import type { PipelineScope } from '../ir-pipelines.ts';
import type { Lowering } from '../lowering.ts';
import type {
  BarrierValue,
  ChoiceValue,
  ClosureValue,
  CountValue,
  DeviceFunctionValue,
  GroupValue,
  LanesValue,
  Numeric,
  ObjectValue,
  QuotientValue,
  RandomStateValue,
  SubsetValue,
  TextValue,
  TokenValue,
  Value,
  VectorValue,
  ViewValue,
} from '../values.ts';

/** What arguments become. */
export interface ArgumentTypes {
  readonly number: Numeric;
  readonly 'number or bigint': Numeric;
  readonly 'number or quotient': Numeric | QuotientValue;
  readonly 'number, bigint or quotient': Numeric | QuotientValue;
  readonly vector: VectorValue;
  readonly 'vector or number': VectorValue | Numeric;
  readonly index: Expression;
  readonly lanes: Expression;
  readonly constant: number;
  readonly count: CountValue;
  readonly array: ViewValue;
  readonly 'readonly array': ViewValue;
  readonly shape: readonly Expression[];
  readonly 'element type': Element;
  readonly group: GroupValue;
  readonly 'group or lanes': GroupValue | LanesValue | SubsetValue;
  readonly block: GroupValue;
  readonly 'block or tile': GroupValue;
  readonly 'group or its lanes': GroupValue | LanesValue;
  readonly 'block, tile or its lanes': GroupValue | LanesValue;
  readonly 'block, tile or lanes': GroupValue | LanesValue | SubsetValue;
  readonly 'tile or lanes': GroupValue | LanesValue;
  readonly 'lanes of a warp': LanesValue;
  readonly 'tile, lanes or subset': GroupValue | LanesValue | SubsetValue;
  readonly pipeline: Extract<Value, { kind: 'pipeline' }>;
  readonly 'pipeline state': Extract<Value, { kind: 'pipelineState' }>;
  readonly 'random state': RandomStateValue;
  readonly scope: PipelineScope;
  readonly combination: Combination;
  readonly role: TextValue | ChoiceValue;
  readonly 'memory order': MemoryOrder;
  readonly 'memory scope': MemoryScope;
  /** An f64. */
  readonly nanoseconds: Expression;
  readonly barrier: BarrierValue;
  readonly 'pipeline or barrier': Extract<Value, { kind: 'pipeline' }> | BarrierValue;
  readonly token: TokenValue;
  readonly function: ClosureValue | DeviceFunctionValue;
  readonly object: ObjectValue;
  readonly anything: Value;
}

type Argument<K> = K extends `${infer A extends ArgumentKind}...`
  ? readonly ArgumentTypes[A][]
  : K extends `${infer A extends ArgumentKind}?`
    ? ArgumentTypes[A] | undefined
    : K extends ArgumentKind
      ? ArgumentTypes[K]
      : never;

type FormArguments<F> = F extends Form ? { readonly [K in keyof F]: Argument<F[K]> } : never;

type Forms<N extends IntrinsicName> = FormTable[N] extends readonly (infer F)[] ? F : Record<never, never>;

type ReceiverValue<N extends IntrinsicName> = N extends `${'grid' | 'block' | 'tile' | 'thread'}.${string}`
  ? GroupValue
  : N extends `coalesced.${string}`
    ? LanesValue
    : N extends `subset.${string}`
      ? SubsetValue
      : N extends `pipeline.${string}`
        ? Extract<Value, { kind: 'pipeline' }>
        : N extends `array.${string}`
          ? ViewValue
          : N extends `barrier.${string}`
            ? BarrierValue
            : N extends `barriers.${string}`
              ? Extract<Value, { kind: 'barriers' }>
              : null;

/** One use of an intrinsic. */
export interface IntrinsicCall<N extends IntrinsicName = IntrinsicName> {
  readonly lowering: Lowering;
  readonly node: Node;
  readonly receiver: ReceiverValue<N>;
  readonly args: FormArguments<Forms<N>>;
  /** Where an argument stands; the call itself if it was not given. */
  at(name: string): Node;
  /** What the user called it, for messages: `cuda.memcpyAsync`. */
  readonly name: N;
}

/** How each intrinsic is lowered. */
export type Handlers = {
  readonly [K in IntrinsicName]: (call: IntrinsicCall<K>) => Value;
};

/** How some intrinsics are lowered. */
export type SomeHandlers = Partial<Handlers>;
