// The stages that were recorded of kernels' blocks, as traces of their own below the trace of the operations.
//
// Both have one origin, so that on the page a kernel's stages lie under the kernel.

import type { BlockStages, Span } from './span.ts';
import { originOf, type Trace } from './viewer/data.ts';

/** What is done with a batch, in the order in which the page shows it. */
const lanes = ['acquire', 'copy', 'wait', 'compute', 'release'];

/** The traces, each followed by that of its stages, if any were recorded. */
export function withStageTraces(traces: readonly Trace[]): readonly Trace[] {
  return traces.flatMap((trace) => {
    const stages = stagesIn(trace.spans);
    if (stages.length === 0) return [trace];
    const spans = numbered(stages.map(({ spans }) => spans));
    const blocks = [...new Set(stages.map(({ block }) => `(${block.join(', ')})`))].join(' and ');
    return [
      trace,
      {
        title: `stages of block ${blocks} in ${trace.title}`,
        facts: { launches: stages.length },
        spans,
        lanes,
        origin: Math.min(trace.origin ?? originOf(trace.spans), originOf(spans)),
        ...(trace.unit === undefined ? {} : { unit: trace.unit }),
      },
    ];
  });
}

function stagesIn(spans: readonly Span[]): readonly BlockStages[] {
  return spans.flatMap(({ stages }) => (stages === undefined || stages.spans.length === 0 ? [] : [stages]));
}

/** The spans of all launches, with numbers that no other has. */
function numbered(launches: readonly (readonly Span[])[]): readonly Span[] {
  let before = 0;
  return launches.flatMap((spans) => {
    const first = before;
    before += spans.length;
    return spans.map((span) => ({
      ...span,
      ...(span.id === undefined ? {} : { id: first + span.id }),
      ...(span.after === undefined ? {} : { after: span.after.map((id) => first + id) }),
    }));
  });
}
