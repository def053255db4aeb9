#!/usr/bin/env node
// warpstage-language-server --stdio: a language server, as editors start one.

import { createConnection, ProposedFeatures } from 'vscode-languageserver/node';
import { serve } from './server.js';

serve(createConnection(ProposedFeatures.all, process.stdin, process.stdout));
