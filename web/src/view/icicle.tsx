// GPU time by call path, as an icicle: a node is as wide as the GPU time below it.

import { useMemo, useState } from 'preact/hooks';
import type { Facts, TreeNode } from '../data/facts';
import { count, percent, shortName, time } from '../data/format';
import { store } from '../store';
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

export function Icicle({ facts, full }: { facts: Facts; full?: boolean }) {
  const [by, setBy] = useState<'calls' | 'modules'>('calls');
  const [zoom, setZoom] = useState<number[]>([]);
  const root = (by === 'modules' ? facts.trees?.modules : undefined) ?? facts.trees?.calls;
  const boxes = useMemo(() => (root ? boxesOf(root, zoom) : []), [root, zoom]);
  const rows = useMemo(() => (root ? flattened(root) : []), [root]);
  if (!root || root[1] === 0)
    return (
      <section aria-label="Call tree">
        <p>No GPU work to show by call path.</p>
      </section>
    );
  const depth = Math.max(...boxes.map((b) => b.depth)) + 1;
  const total = root[1];
  return (
    <section aria-label="Call tree">
      <h2>GPU time by {by === 'calls' ? 'call path' : 'module'}</h2>
      <div class="tools">
        <label>
          By{' '}
          <select
            value={by}
            onChange={(e) => {
              setBy(e.currentTarget.value as 'calls' | 'modules');
              setZoom([]);
            }}
          >
            <option value="calls">call path (Python, ops, kernels)</option>
            {facts.trees?.modules && <option value="modules">module</option>}
          </select>
        </label>
        <button type="button" disabled={zoom.length === 0} onClick={() => setZoom(zoom.slice(0, -1))}>
          Up
        </button>
        <button type="button" disabled={zoom.length === 0} onClick={() => setZoom([])}>
          Whole tree
        </button>
      </div>
      <svg class="icicle" viewBox={`0 0 ${width} ${depth * rowHeight}`} role="group" aria-label="Icicle of GPU time; the same values are in the table below">
        {boxes.map((b) => {
          const name = b.path.length === 0 ? 'all GPU work' : b.node[0];
          const letters = Math.floor((b.w - 6) / 6);
          const short = shortName(name);
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
              {letters > 2 && (
                <text x={b.x + 3} y={b.depth * rowHeight + 14}>
                  {short.length > letters ? short.slice(0, letters - 1) + '…' : short}
                </text>
              )}
              <title>{`${name}\n${time(b.node[1])}, ${percent(b.node[1] / total)}, ${count(b.node[2])} events`}</title>
            </g>
          );
        })}
      </svg>
      <DataTable
        table={tableOf(
          'call tree',
          [['name'], ['called from'], ['GPU time', 'ms'], ['of GPU time', '%'], ['events']],
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
