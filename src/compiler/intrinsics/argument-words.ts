// What an intrinsic takes, in the words of messages.

import {
  type ArgumentKind,
  combinations,
  type Form,
  memoryOrders,
  memoryScopes,
} from '../../kernel/intrinsics.ts';
import { elementsInWords } from '../../kernel/types.ts';

/** A kind of argument, as messages say what is wanted. */
export function kindText(kind: ArgumentKind): string {
  switch (kind) {
    case 'number':
    case 'number or quotient':
      return 'a number';
    case 'number or bigint':
    case 'number, bigint or quotient':
      return 'a number or bigint';
    case 'index':
      return 'an integer';
    case 'lanes':
      return 'a mask of lanes';
    case 'constant':
      return 'a constant';
    case 'nanoseconds':
      return 'a number of nanoseconds';
    case 'count':
      return 'an integer or cuda.alignedSize(align, count)';
    case 'array':
    case 'readonly array':
      return 'an array';
    case 'vector':
      return 'a vector';
    case 'vector or number':
      return 'a vector or a number';
    case 'shape':
      return 'a list of two or three integers';
    case 'element type':
      return `the name of an element type: ${elementsInWords}`;
    case 'group':
    case 'group or its lanes':
      return 'a block, a tile or a thread';
    case 'group or lanes':
      return 'a block, a tile, a coalesced group, a subset of a block or a thread';
    case 'block':
      return 'a block';
    case 'block or tile':
    case 'block, tile or its lanes':
      return 'a block or a tile';
    case 'block, tile or lanes':
      return 'a block, a tile, a coalesced group or a subset of a block';
    case 'lanes of a warp':
      return 'a coalesced group';
    case 'tile, lanes or subset':
      return 'a tile, a coalesced group or a subset of a block';
    case 'tile or lanes':
      return 'a tile or a coalesced group';
    case 'pipeline':
      return 'a pipeline';
    case 'pipeline state':
      return 'made by cuda.pipelineSharedState';
    case 'random state':
      return 'made by cuda.curandInit';
    case 'combination':
      return oneOf(combinations);
    case 'memory order':
      return oneOf(memoryOrders);
    case 'memory scope':
      return oneOf(memoryScopes);
    case 'scope':
      return "'block', 'cluster', 'device' or 'system'";
    case 'role':
      return "'producer' or 'consumer'";
    case 'barrier':
      return 'a barrier';
    case 'pipeline or barrier':
      return 'a pipeline or a barrier';
    case 'token':
      return 'what arrive() gave';
    case 'function':
      return 'a function';
    case 'object':
      return 'an object: { name: value, … }';
    case 'anything':
      return 'text, a number or a vector';
  }
}

const oneOf = (names: readonly string[]) => `one of ${names.map((name) => `'${name}'`).join(' ')}`;

/** Forms as people write them; those whose arguments differ only in kind are one. */
export function formsText(forms: readonly Form[]): string {
  return [...new Set(forms.map(formText))].join(' or ');
}

/** A form as people write it: `(element, count)`. */
function formText(form: Form): string {
  const names = Object.entries(form).map(([name, kind]) => {
    if (kind.endsWith('...')) return `...${name}`;
    return kind.endsWith('?') ? `${name}?` : name;
  });
  return names.length === 0 ? 'no arguments' : `(${names.join(', ')})`;
}
