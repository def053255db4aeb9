// `warpstage trace`: shows trace files in the browser, several on one axis of time.
//
// The page is served on this machine alone until Ctrl-C, or written to a file.

import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import type { Command } from 'commander';
import { WarpstageError } from '../diagnostics/error.ts';
import { unreadable } from '../diagnostics/problem.ts';
import type { Trace } from '../timeline/page.ts';
import { type CommandContext, examplesText, newCommand } from './command.ts';
import { parsePort } from './values.ts';

interface TraceOptions {
  readonly output?: string;
  readonly port?: number;
}

/** The command `trace`. */
export function traceCommand(context: CommandContext): Command {
  return newCommand('trace', context)
    .summary('view timelines in the browser')
    .description(
      "Serves a page that shows trace files (Chrome's JSON, as --trace writes it), one above the other on one " +
        'axis of time, until Ctrl-C. The page needs no network; -o writes it to a file instead.',
    )
    .argument('<files...>', 'the trace files')
    .option('-o, --output <file>', 'write the page to a file')
    .option('--port <number>', 'the port to serve on (default: a free one)', parsePort)
    .addHelpText(
      'after',
      examplesText(['warpstage trace timeline.json', 'warpstage trace v1.json v2.json -o compared.html']),
    )
    .action(async (files: readonly string[], { output, port = 0 }: TraceOptions) => {
      if (output !== undefined) {
        const { checkWritable } = await import('./write-whole.ts');
        await checkWritable(output, '-o', { reads: files });
      }
      const traces = await Promise.all(files.map(read));
      if (output !== undefined) {
        const { writeTracePage } = await import('./write-trace.ts');
        await writeTracePage(output, traces);
      } else await serve(traces, port, context);
    });
}

async function read(path: string): Promise<Trace> {
  const { readTrace } = await import('../timeline/read-trace.ts');
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw unreadable(
      `the trace file ${path}`,
      error,
      'check the path; it is taken from the current directory',
    );
  });
  return readTrace(path, text);
}

async function serve(
  traces: readonly Trace[],
  port: number,
  { terminal, interrupt }: CommandContext,
): Promise<void> {
  // No other command loads them.
  const { createServer } = await import('node:http');
  const { tracePage } = await import('../timeline/page.ts');
  const page = tracePage(traces);
  const server = createServer((request, response) => {
    const known = request.url === '/';
    response.writeHead(known ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' });
    response.end(known ? page : 'not found');
  });
  const signal = interrupt.listen();
  await new Promise<void>((resolve, reject) => {
    server.on('error', (error) =>
      reject(
        new WarpstageError(
          {
            code: 'WS4007',
            message: `the page cannot be served on port ${port}: ${error.message}`,
            hint: 'leave --port out, and a free one is taken; or write the page to a file with -o',
          },
          { cause: error },
        ),
      ),
    );
    server.listen(port, '127.0.0.1', () => {
      const address = server.address() as AddressInfo;
      terminal.output.write(`http://127.0.0.1:${address.port}/\n`);
    });
    signal.addEventListener('abort', () => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  });
}
