// Parts of the page that need no browser: what its sources compute. Prints a line for each check; exit code 1 where one
// failed.
//   node logic.mjs SOURCE_DIR
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { deflateRawSync } from 'node:zlib';

const [source] = process.argv.slice(2);
const { buildSync } = await import(pathToFileURL(join(source, 'web/node_modules/esbuild/lib/main.js')).href);
async function load(path) {
  const built = buildSync({ absWorkingDir: join(source, 'web'), entryPoints: [`src/${path}`], bundle: true, format: 'esm', write: false, jsx: 'automatic', jsxImportSource: 'preact' });
  return import(`data:text/javascript;base64,${Buffer.from(built.outputFiles[0].contents).toString('base64')}`);
}
const { moment, shortName, binaryBytes } = await load('data/format.ts');
const { category } = await load('data/categories.ts');
const { Timeline } = await load('timeline/model.ts');
const { valueAt } = await load('timeline/draw.ts');
const { bySource } = await load('view/icicle.tsx');
const { place: placeNodes, readFlowchart } = await load('view/diagram.tsx');

// A chunk of events as page_columns.cc writes it: a length and LEB128 numbers for each column.
function packed(starts, lengths, names) {
  const column = (values) => {
    const bytes = [];
    for (let v of values) {
      for (; v > 127; v = Math.floor(v / 128)) bytes.push((v & 127) | 128);
      bytes.push(v);
    }
    const size = Buffer.alloc(4);
    size.writeUInt32LE(bytes.length);
    return Buffer.concat([size, Buffer.from(bytes)]);
  };
  const zeros = starts.map(() => 0);
  const columns = [starts.map((s, i) => s - (starts[i - 1] ?? 0)), lengths, names, zeros, zeros, zeros, zeros, zeros];
  return deflateRawSync(Buffer.concat(columns.map(column))).toString('base64');
}

// How far apart two colours are for somebody who lacks a kind of cones (Viénot 1999; Machado 2009 for blue), as the
// distance in CIE L*a*b*.
const lacking = {
  none: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  red: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  green: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
};
function lab(colour, m) {
  const n = parseInt(colour.slice(1), 16);
  const linear = [n >> 16, (n >> 8) & 255, n & 255].map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  const [r, g, b] = [0, 3, 6].map((row) => Math.min(1, Math.max(0, m[row] * linear[0] + m[row + 1] * linear[1] + m[row + 2] * linear[2])));
  const f = (t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const [x, y, z] = [(0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505, 0.2126 * r + 0.7152 * g + 0.0722 * b, (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089].map(f);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}
const apart = (x, y, m) => Math.hypot(...lab(x, m).map((v, i) => v - lab(y, m)[i]));

const checks = {
  async 'moments on a ruler differ, however far it is zoomed'() {
    for (const [begin, step] of [[3.6257e9, 2e4], [3.6257e9, 5], [67.4e6, 2e5], [0, 1], [9.9e9, 1e9], [1.2e5, 500]]) {
      const words = [0, 1, 2, 3, 4].map((i) => moment(begin + i * step, step, begin + 5 * step));
      assert.equal(new Set(words).size, 5, words.join());
    }
    assert.equal(moment(3_625_785_946, 1, 5e9), '3.625785946 s');
  },

  async 'names keep what tells them apart'() {
    assert.equal(shortName('record.py(189): <module>'), 'record.py(189): <module>');
    assert.equal(shortName('void at::native::elementwise_kernel<128, 4>(int)'), 'elementwise_kernel');
    assert.equal(binaryBytes(4), '4 B');
    assert.equal(binaryBytes(12595200), '12.0 MiB');
  },

  async 'colours of one row are told apart without red or green cones'() {
    const rows = {
      work: ['gemm', 'attention', 'convolution', 'elementwise', 'communication', 'copy', 'other_work'],
      idle: ['first_use', 'allocation', 'synchronization', 'communication', 'data_loading', 'late_launch', 'host_code', 'host_elsewhere', 'queued', 'no_launch_recorded', 'profiler', 'unknown'].map((c) => `idle.${c}`),
      path: ['host_outside_calls', 'host_op', 'host_call', 'launch_call', 'sync_return', 'host_pause', 'kernel', 'collective', 'copy', 'launch_latency', 'stream_gap', 'event_wait', 'unexplained'].map((c) => `path.${c}`),
      phases: ['prefill', 'decode', 'forward', 'backward', 'optimizer', 'communication'].map((p) => `phase.${p}`),
      host: ['op', 'call', 'range', 'other'],
      frames: ['python', 'module', 'library'],
      wall: ['computation', 'exposed_communication', 'exposed_copies', 'idle.late_launch', 'idle.synchronization'],
    };
    for (const [row, keys] of Object.entries(rows)) {
      for (const [kind, m] of Object.entries(lacking)) {
        keys.forEach((x, i) => {
          for (const y of keys.slice(i + 1)) {
            const distance = apart(category(x).colour, category(y).colour, m);
            assert.ok(distance > 10, `${row}: ${x} and ${y} are ${distance.toFixed(1)} apart (cones lacking: ${kind})`);
          }
        });
      }
    }
  },

  async 'sums and searches see events that are not decoded'() {
    const chunks = [];
    let blocks = '';
    for (let c = 0; c < 100; c++) {
      const text = packed([c * 100, c * 100 + 50], [10, 20], [0, c % 2]);
      chunks.push([2, c * 100, c * 100 + 70, blocks.length, text.length]);
      blocks += text;
    }
    const texts = deflateRawSync(JSON.stringify(['gemm', 'odd'])).toString('base64');
    const place = [blocks.length, texts.length];
    blocks += texts;
    const row = { first: 1, events: 3_000_000, chunks };
    const facts = { timeline: { begin_ns: 0, length_ns: 10_000, categories: ['gemm'], tracks: [{ kind: 'stream', group: 'GPU 0', name: 'stream 7', rows: [row] }], series: [], left_out: { tracks: 0, events: 0, texts: 0 }, texts: place } };
    const timeline = await Timeline.open(facts, blocks);
    const keys = [{ kind: 'stream', key: (chunk, i) => timeline.text(chunk.name[i]) }];
    const [sums] = await timeline.sums(5, 10_000, keys, () => true);
    assert.deepEqual(sums.map((s) => [s.key, s.events, s.time]), [['gemm', 150, 1995], ['odd', 50, 1000]]);
    const found = await timeline.search(timeline.matching('odd'), 1000, () => true);
    assert.equal(found.length, 50);
    assert.equal((await timeline.search(timeline.matching('odd'), 20, () => true)).length, 20);
    assert.equal(await timeline.search(timeline.matching('odd'), 1000, () => false), null);
  },

  async 'GPU time by source file is all of it, at the innermost own line'() {
    const leaf = (name, time) => [name, time, 1, []];
    const node = (name, ...below) => [name, below.reduce((s, b) => s + b[1], 0), below.length, below];
    const calls = node(
      'all',
      node('main.py(3): <module>', node('torch/nn/module.py(9): _call', node('models.py(40): forward', node('torch/nn/functional.py(2): linear', node('aten::linear', leaf('gemm', 70)))))),
      node('aten::fill_', leaf('fill', 30)),
    );
    const tree = bySource(calls);
    assert.equal(tree[1], 100);
    assert.deepEqual(tree[3].map((n) => [n[0], n[1]]), [['models.py', 70], ['no Python frame recorded', 30]]);
    assert.deepEqual(tree[3][0][3][0][0], 'forward, line 40');
    assert.deepEqual(tree[3][0][3][0][3][0][0], 'aten::linear');
    assert.equal(bySource(node('all', leaf('aten::mm', 5))), null);
  },

  async 'a counter has its value at a time, in its unit'() {
    const memory = { name: 'GPU 0 memory allocated (bytes)', t: [10, 20], v: [0, 4194304], min: 0, max: 4194304 };
    assert.deepEqual([5, 10, 15, 20, 99].map((t) => valueAt(memory, t)), ['', '0 B', '0 B', '4.19 MB', '4.19 MB']);
    const sampled = { name: 'SM active', t: [0, 10], v: [12.5, 20], peak: [50, 20], min: 0, max: 50 };
    assert.deepEqual([0, 10].map((t) => valueAt(sampled, t)), ['12.5 (largest 50)', '20']);
  },

  async 'a flowchart is read with its labels'() {
    const chart = readFlowchart('flowchart TD\n  p0["src/app<br/>98 files"]\n  p1["src"]\n  p0 -->|154| p1\n');
    assert.deepEqual([...chart.nodes.values()], ['src/app · 98 files', 'src']);
    assert.deepEqual(chart.edges, [['p0', 'p1', '154']]);
    // Circles: every node has a place of its own, and no layer is empty.
    const edges = [['a', 'b', ''], ['b', 'c', ''], ['c', 'a', ''], ['c', 'd', ''], ['d', 'd', ''], ['x', 'd', '']];
    const placed = [...placeNodes(new Map([...'abcdxy'].map((id) => [id, id])), edges).values()];
    assert.equal(new Set(placed.map((n) => `${n.layer} ${n.y}`)).size, 6);
    const layers = [...new Set(placed.map((n) => n.layer))].sort();
    assert.deepEqual(layers, layers.map((_, i) => i));
    assert.equal(readFlowchart('sequenceDiagram\n  a->>b: x'), null);
  },
};

let failed = 0;
for (const [name, check] of Object.entries(checks)) {
  try {
    await check();
    console.log(`ok      ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAILED  ${name}\n${error.stack.replace(/data:\S+/g, "(the page)")}`);
  }
}
process.exit(failed > 0 ? 1 : 0);
