// The extension of VS Code: a client of the language server, which says all there is to say.
//
// The server runs with the Node of VS Code, in a process of its own, and is over when the extension is.

const { LanguageClient, TransportKind } = require('vscode-languageclient/node');

let client;

exports.activate = async () => {
  const module = require.resolve('warpstage-language-server/main.js');
  const server = { module, transport: TransportKind.stdio };
  client = new LanguageClient(
    'warpstage',
    'warpstage',
    { run: server, debug: server },
    {
      documentSelector: ['typescript', 'javascript'].map((language) => ({ scheme: 'file', language })),
    },
  );
  await client.start();
};

exports.deactivate = () => client?.stop();
