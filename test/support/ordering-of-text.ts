// What orders the accesses of generated CUDA C++ for sm_90, read from the text alone.
//
// One thread copies and arrives for its block. It may do so only for what it knows: behind a barrier of the
// block, with no access of the threads between. What the copy engine overwrites lies before a proxy fence,
// and stores of threads before one of their own. A thread that copies and arrives at once by its copies
// orders nothing else that it did. The rules know nothing of how the generator comes to its text.

interface Block {
  readonly open: string;
  readonly lines: (string | Block)[];
}

interface State {
  /** Whether threads made accesses since the last barrier of the block. */
  stirred: boolean;
  /** Whether the copying thread has fenced since the last barrier or access. */
  fenced: boolean;
  /** Whether threads stored to shared memory and have not fenced since. */
  stored: boolean;
}

/** What breaks the rules, line by line. With `spared`, two threads meet nowhere but in what copies fill. */
export function orderingFaults(text: string, { spared = false } = {}): string[] {
  const entry = text.slice(text.indexOf('extern "C"'));
  const [head, ...lines] = entry.split('\n').map((line) => line.trim());
  const readonlyArrays = new Set([...head!.matchAll(/const \w+\* (g_\w+)/g)].map(([, name]) => name!));
  const hasBulk = entry.includes('ws_bulk_copy');
  const faults: string[] = [];

  const accesses = (line: string) =>
    [...line.matchAll(/\b([gs]_\w+)\[/g)].some(([, name]) => !readonlyArrays.has(name!)) ||
    /\bws_copy\w*[<(]|\batomic\w+\(/.test(line);
  const stores = (line: string) =>
    /^s_\w+\[.*\] = /.test(line) || /\bws_copy\w*(<[^>]*>)?\(s_/.test(line) || /atomic\w+\(&s_/.test(line);

  const visitLine = (line: string, state: State) => {
    const says = (fault: string) => faults.push(`${fault}: ${line}`);
    const byOne = /^(if \(.*\) )?if \((ws_copying_warp\) if \(ws_elect\(\)|ws_thread_rank == 0)\)/.test(line);
    if (/^(__syncthreads|ws_sync_apart)\(\);/.test(line) || line.includes('__syncthreads_count')) {
      if (hasBulk && state.stored) says('stores before a barrier without a fence');
      Object.assign(state, { stirred: false, fenced: false, stored: false });
    } else if (line === 'ws_fence_async();') Object.assign(state, { stored: false, fenced: true });
    else if (line.includes('ws_bulk_copy')) {
      if (state.stirred && !spared) says('a copy behind accesses that no barrier orders');
      if (!(state.fenced || line.includes('ws_fence_async();') || spared)) says('a copy without a fence');
      state.fenced = true;
    } else if (byOne && line.includes('ws_arrive_expecting')) {
      if (state.stirred && !spared) says('one arrival behind accesses of others');
    } else if (line.startsWith('ws_arrive_by_copies') && !spared) says('an arrival that orders copies alone');
    else if (line.includes('atomicSub(p_')) says('a count of members that orders nothing');
    else if (accesses(line) || /\bws_(wait|await|over|within|until)/.test(line)) {
      Object.assign(state, { stirred: state.stirred || accesses(line), fenced: false });
      state.stored ||= stores(line);
    }
  };
  const visit = (block: Block, state: State) => {
    for (const [position, line] of block.lines.entries()) {
      if (typeof line === 'string') {
        visitLine(line, state);
        const next = block.lines[position + 1];
        const isCommit = line.startsWith('ws_arrive_after_copies(&p_');
        const arrival = line.replace('ws_arrive_after_copies', 'ws_arrive');
        if (isCommit && next !== arrival) faults.push(`no arrival behind the copies: ${line}`);
        continue;
      }
      visitLine(line.open, state);
      const isLoop = /^(while|for|do)\b/.test(line.open);
      const inside = isLoop ? { ...state, stirred: true, fenced: false } : { ...state };
      visit(line, inside);
      state.stirred ||= inside.stirred;
      state.fenced &&= inside.fenced;
      state.stored ||= inside.stored;
      if (!isLoop && line.open === '{') Object.assign(state, inside);
    }
  };
  visit(treeOf(lines), { stirred: true, fenced: false, stored: false });
  return faults;
}

function treeOf(lines: readonly string[]): Block {
  const root: Block = { open: '', lines: [] };
  const stack = [root];
  for (const line of lines) {
    if (line.startsWith('}') && stack.length > 1) stack.pop();
    else if (line.endsWith('{')) {
      const block: Block = { open: line, lines: [] };
      stack.at(-1)!.lines.push(block);
      stack.push(block);
    } else stack.at(-1)!.lines.push(line);
  }
  return root;
}
