// GPU and CPU time by call path, as an icicle: a node is as wide as the time below it.

import { useMemo, useState } from 'preact/hooks';
import type { Facts, TreeNode } from '../data/facts';
import { count, fitted, percent, shortName, time } from '../data/format';
import { store, useStore } from '../store';
import { DataTable, tableOf } from './table';

const rowHeight = 20;
const width = 1000;
const mostDepth = 40;

interface Box {
  node: TreeNode;
  path: number[];
  depth: number;
  x: number;
  w: number;
}

// Light ones, for black letters; a colour here only tells neighbours apart.
const palette = ['#9ecae9', '#f6d186', '#8fd3b6', '#e3b5cf', '#b9cfe8', '#f2b48c', '#cfd6dc'];
function colourOf(name: string): string {
  let hash = 0;
  for (let i = 0; i < Math.min(name.length, 80); i++) hash = (hash * 31 + name.charCodeAt(i)) | 0;
  return palette[Math.abs(hash) % palette.length];
}

function boxesOf(root: TreeNode, from: number[]): Box[] {
  let top = root;
  for (const i of from) top = top[3][i] ?? top;
  const boxes: Box[] = [];
  const add = (node: TreeNode, path: number[], depth: number, x: number, w: number) => {
    if (w < 0.7 || depth > mostDepth) return;
    boxes.push({ node, path, depth, x, w });
    let at = x;
    node[3].forEach((child, i) => {
      const wide = node[1] > 0 ? (child[1] / node[1]) * w : 0;
      add(child, [...path, i], depth + 1, at, wide);
      at += wide;
    });
  };
  add(top, from, 0, 0, width);
  return boxes;
}

function flattened(root: TreeNode): { name: string; path: string; time: number; events: number }[] {
  const rows: { name: string; path: string; time: number; events: number }[] = [];
  const add = (node: TreeNode, path: string, depth: number) => {
    if (depth > 0) rows.push({ name: node[0], path, time: node[1], events: node[2] });
    for (const child of node[3]) add(child, depth === 0 ? '' : path === '' ? shortName(node[0]) : `${path} › ${shortName(node[0])}`, depth + 1);
  };
  add(root, '', 0);
  return rows.sort((x, y) => y.time - x.time).slice(0, 1000);
}

// "models.py(40): forward" → file, and the function with its line; none for other nodes.
function frameOf(name: string): { file: string; place: string } | null {
  const frame = /^(.*\.\w+)\((\d+)\): (.*)$/.exec(name);
  return frame && { file: frame[1], place: `${frame[3]}, line ${frame[2]}` };
}
const isLibrary = (file: string) => /(^|\/)(site-packages|dist-packages|torch|lib\/python[\d.]*)\/|^<|^threading\.py$/.test(file);

// The same GPU time by source file: the innermost frame of the program's own code, then what it called. Time without a
// Python frame stays one part.
export function bySource(calls: TreeNode): TreeNode | null {
  type Sum = { time: number; events: number; below: Map<string, Sum> };
  const make = (): Sum => ({ time: 0, events: 0, below: new Map() });
  const root = make();
  let frames = 0;
  const add = (path: string[], time: number, events: number) => {
    let at = root;
    for (const part of ['', ...path]) {
      if (part !== '') {
        if (!at.below.has(part)) at.below.set(part, make());
        at = at.below.get(part)!;
      }
      at.time += time;
      at.events += events;
    }
  };
  const walk = (node: TreeNode, file: string, place: string, rest: string[], own: boolean) => {
    const frame = frameOf(node[0]);
    let next: [string, string, string[], boolean] = [file, place, rest, own];
    if (frame) {
      frames++;
      const isOwn = !isLibrary(frame.file);
      if (isOwn || !own) next = [frame.file, frame.place, [], isOwn];
    } else if (!/^nn\.Module: /.test(node[0])) {
      next = [file, place, rest.length < 6 ? [...rest, node[0]] : rest, own];
    }
    let below: [number, number] = [0, 0];
    for (const child of node[3]) {
      walk(child, ...next);
      below = [below[0] + child[1], below[1] + child[2]];
    }
    // What no child has, too: nodes that were left out.
    if (node[1] > below[0]) add([next[0] || 'no Python frame recorded', ...(next[1] ? [next[1]] : []), ...next[2]], node[1] - below[0], Math.max(0, node[2] - below[1]));
  };
  for (const child of calls[3]) walk(child, '', '', [], false);
  const made = (name: string, sum: Sum): TreeNode => [name, sum.time, sum.events, [...sum.below].map(([n, s]) => made(n, s)).sort((x, y) => y[1] - x[1])];
  return frames > 0 ? made(calls[0], root) : null;
}

type By = 'calls' | 'modules' | 'sources' | 'host' | 'hostSources';
const byWords: Record<By, string> = {
  calls: 'GPU time by call path',
  modules: 'GPU time by module',
  sources: 'GPU time by source file',
  host: 'CPU time by call path',
  hostSources: 'CPU time by source file',
};

export function Icicle({ facts, full }: { facts: Facts; full?: boolean }) {
  const trees = useMemo(() => {
    const { calls, modules, host } = facts.trees!;
    const made: Partial<Record<By, TreeNode | null>> = { calls, modules, sources: bySource(calls), host, hostSources: host && bySource(host) };
    return (Object.keys(byWords) as By[]).flatMap((by) => (made[by] && made[by][1] > 0 ? [{ by, root: made[by] }] : []));
  }, [facts]);
  const ruler = useMemo(() => {
    const context = document.createElement('canvas').getContext('2d')!;
    context.font = '11px system-ui, sans-serif'; // as svg.icicle
    return context;
  }, []);
  const chosen = useStore().table; // in the address
  const [zoom, setZoom] = useState<number[]>([]);
  const { by, root } = trees.find((tree) => tree.by === chosen) ?? trees[0] ?? { by: 'calls' as By, root: undefined };
  const boxes = useMemo(() => (root ? boxesOf(root, zoom) : []), [root, zoom]);
  const rows = useMemo(() => (root ? flattened(root) : []), [root]);
  if (!root)
    return (
      <section aria-label="Call tree">
        <p>The trace has neither GPU work nor calls on the CPU to show by call path.</p>
      </section>
    );
  const depth = Math.max(...boxes.map((b) => b.depth)) + 1;
  const total = root[1];
  const isHost = by.startsWith('host');
  const what = isHost ? 'CPU' : 'GPU';
  return (
    <section aria-label="Call tree">
      <h2>{byWords[by]}</h2>
      <div class="tools">
        <label>
          Show{' '}
          <select
            value={by}
            onChange={(e) => {
              store.set({ table: e.currentTarget.value });
              setZoom([]);
            }}
          >
            {trees.map((tree) => (
              <option key={tree.by} value={tree.by}>
                {byWords[tree.by]}
              </option>
            ))}
          </select>
        </label>
        <button type="button" disabled={zoom.length === 0} onClick={() => setZoom(zoom.slice(0, -1))}>
          Up
        </button>
        <button type="button" disabled={zoom.length === 0} onClick={() => setZoom([])}>
          Whole tree
        </button>
        {!trees.some((tree) => tree.by === 'sources') && <span class="sub">By source file: the trace has no Python stacks (with_stack=True, or fathom record --python-stacks).</span>}
      </div>
      {isHost && <p class="sub">Time that calls and Python frames last on the CPU, with waiting in them; of several threads, each is a part of its own.</p>}
      <div class="scroll">
      <svg class="icicle" viewBox={`0 0 ${width} ${depth * rowHeight}`} role="group" aria-label={`Icicle: ${byWords[by]}; the same values are in the table below`}>
        {boxes.map((b) => {
          const name = b.path.length === 0 ? (isHost ? 'all calls of the CPU' : 'all GPU work') : b.node[0];
          const words = b.w > 24 ? fitted(ruler, shortName(name), b.w - 5) : '';
          return (
            <g
              key={b.path.join('.')}
              tabindex={b.w > 8 ? 0 : undefined}
              role="button"
              aria-label={`${name}: ${time(b.node[1])}, ${percent(b.node[1] / total)}`}
              onClick={() => setZoom(b.path)}
              onKeyDown={(e) => {
                if (e.key === 'Enter' || e.key === ' ') {
                  e.preventDefault();
                  setZoom(b.path);
                }
              }}
            >
              <rect x={b.x} y={b.depth * rowHeight} width={Math.max(0.5, b.w - 0.5)} height={rowHeight - 1} fill={colourOf(name)} />
              {words.length > 2 && (
                <text x={b.x + 3} y={b.depth * rowHeight + 14}>
                  {words}
                </text>
              )}
              <title>{`${name}\n${time(b.node[1])}, ${percent(b.node[1] / total)}, ${count(b.node[2])} events`}</title>
            </g>
          );
        })}
      </svg>
      </div>
      <DataTable
        table={tableOf(
          'call tree',
          [['name'], ['called from'], [`${what} time`, 'ms'], [`of ${what} time`, '%'], ['events']],
          rows.map((r) => [r.name, r.path, r.time / 1e6, (100 * r.time) / total, r.events]),
        )}
        label="Call tree as a table"
        onRow={(row) => store.set({ view: 'timeline', query: shortName(rows[row].name), event: null, op: null, finding: null })}
        rowAction="Search for it in the timeline"
        full={full}
      />
    </section>
  );
}
