// Solves a question with the official client of the Model Context Protocol: node client.mjs FATHOM
// Each step calls what the answer before names.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const trace = 'tests/faults/recorded/item_per_layer.json.gz';
const client = new Client({ name: 'fathom-test', version: '1' });
await client.connect(new StdioClientTransport({ command: process.argv[2], args: ['mcp'] }));

function check(holds, what) {
  if (holds) return;
  console.error('failed: ' + what);
  process.exit(1);
}
async function call(name, args) {
  const answer = await client.callTool({ name, arguments: args });
  return { text: answer.content[0].text, failed: answer.isError };
}

const { tools } = await client.listTools();
check(tools.length === 10, 'ten tools');
check((await call('open', { trace })).text.includes('Next: summary'), 'open names summary');
check((await call('summary', { trace })).text.includes('Next: findings'), 'summary names findings');
const findings = (await call('findings', { trace })).text;
const synchronization = findings.split('\n').find((line) => line.includes('synchronization]'));
check(synchronization, 'a finding about synchronization');
const cause = (await call('findings', { trace, finding: parseInt(synchronization) })).text;
check(cause.includes('aten::item') && cause.includes('item_per_layer.py:27 forward'), 'the cause and its place');
check((await call('open', { trace: 'missing.json' })).failed, 'a missing file is an error of the tool');
// A call that is taken back while it runs; what was open stays open.
const stop = new AbortController();
setTimeout(() => stop.abort('no longer needed'), 300);
const begin = Date.now();
const taken = await client.callTool({ name: 'scan', arguments: { repo: '.' } }, undefined, { signal: stop.signal }).then(() => 'answered', () => 'taken back');
check(taken === 'taken back', 'a call can be taken back');
check((await call('findings', { trace })).text === findings, 'the next call is answered as before');
console.log(`next answer ${Date.now() - begin} ms after the call that was taken back`);
await client.close();
