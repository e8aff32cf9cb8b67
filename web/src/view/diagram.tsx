// A flowchart of a report (a ```mermaid block) in layers from left to right; its text is its table.

import { useMemo, useState } from 'preact/hooks';

interface Node {
  id: string;
  label: string;
  layer: number;
  y: number;
}

const box = { width: 168, height: 42, gapX: 46, gapY: 12 };
const most = 300;

function clean(label: string): string {
  return label.replace(/^["']|["']$/g, '').replace(/<br\s*\/?>/g, ' · ').replace(/&quot;/g, '"').replace(/#quot;/g, '"');
}

export function readFlowchart(text: string): { nodes: Map<string, string>; edges: [string, string, string][] } | null {
  const lines = text.split('\n');
  if (!/^\s*(flowchart|graph)\b/.test(lines[0] ?? '')) return null;
  const nodes = new Map<string, string>();
  const edges: [string, string, string][] = [];
  const end = String.raw`([\w.-]+)(?:\s*(?:\[\(|\[\[|\(\[|\(|\[|\{)(.*?)(?:\)\]|\]\]|\]\)|\)|\]|\}))?`;
  const edge = new RegExp(String.raw`^\s*${end}\s*(?:-+>|-\.+->|=+>|--+)\s*(?:\|(.*?)\|)?\s*${end}\s*;?\s*$`);
  const labelled = new RegExp(String.raw`^\s*${end}\s*--\s*(.*?)\s*-->\s*${end}\s*;?\s*$`);
  const alone = new RegExp(String.raw`^\s*${end}\s*;?\s*$`);
  const add = (id: string, label: string | undefined) => {
    if (label !== undefined || !nodes.has(id)) nodes.set(id, label !== undefined ? clean(label) : id);
  };
  for (const line of lines.slice(1)) {
    if (/^\s*(subgraph|end|classDef|class|style|linkStyle|%%)\b/.test(line) || line.trim() === '') continue;
    const match = edge.exec(line) ?? labelled.exec(line);
    if (match) {
      const [, a, labelA, words, b, labelB] = match;
      add(a, labelA);
      add(b, labelB);
      edges.push([a, b, clean(words ?? '')]);
      continue;
    }
    const node = alone.exec(line);
    if (node) add(node[1], node[2]);
  }
  return nodes.size > 0 && nodes.size <= most ? { nodes, edges } : null;
}

export function place(nodes: Map<string, string>, edges: [string, string, string][]): Map<string, Node> {
  // Longest way from a source; edges that close a circle are left out of it.
  const layers = new Map([...nodes.keys()].map((id) => [id, 0]));
  for (let round = 0; round < Math.min(nodes.size, 12); round++) {
    for (const [a, b] of edges) if (a !== b && layers.get(b)! < layers.get(a)! + 1 && layers.get(a)! + 1 <= round + 1) layers.set(b, layers.get(a)! + 1);
  }
  // What no arrow touches stands below, in rows.
  const touched = new Set(edges.flatMap(([a, b]) => [a, b]));
  const columns: string[][] = [];
  // A circle can leave a layer without nodes: the layers that have some stand side by side.
  const filled = [...new Set([...touched].map((id) => layers.get(id)!))].sort((x, y) => x - y);
  for (const id of nodes.keys()) {
    layers.set(id, Math.max(0, filled.indexOf(layers.get(id)!)));
    if (touched.has(id)) (columns[layers.get(id)!] ??= []).push(id);
  }
  const rows = new Map<string, number>();
  const number = (column: string[]) => column.forEach((id, row) => rows.set(id, row));
  columns.forEach(number);
  // Each column in the order of its neighbours' rows, a few times: fewer arrows cross.
  const near = new Map([...nodes.keys()].map((id) => [id, [] as string[]]));
  for (const [a, b] of edges) {
    near.get(a)!.push(b);
    near.get(b)!.push(a);
  }
  for (let round = 0; round < 6; round++) {
    for (const column of round % 2 === 0 ? columns : [...columns].reverse()) {
      const middle = new Map(column.map((id) => [id, near.get(id)!.reduce((sum, other) => sum + rows.get(other)!, 0) / Math.max(1, near.get(id)!.length)]));
      column.sort((x, y) => middle.get(x)! - middle.get(y)!);
      number(column);
    }
  }
  const alone = [...nodes.keys()].filter((id) => !touched.has(id));
  const wide = Math.max(4, columns.length);
  const deep = Math.max(0, ...columns.map((column) => column.length));
  return new Map(
    [...nodes].map(([id, label]) => {
      const at = alone.indexOf(id);
      return [id, at < 0 ? { id, label, layer: layers.get(id)!, y: rows.get(id)! } : { id, label, layer: at % wide, y: deep + Math.floor(at / wide) }];
    }),
  );
}

// An arrow's number is how often; more is thicker.
function widthOf(words: string): number {
  const n = Number(words.replace(/,/g, ''));
  return n > 1 ? Math.min(5, 1 + Math.log10(n)) : 1;
}

// A name, and below it how much is in it.
function linesOf(label: string): string[] {
  const [name, ...rest] = label.split(' · ');
  // The end of a path tells it from its neighbours.
  const fit = (text: string) => (text.length <= 20 ? text : text.includes('/') ? '…' + text.slice(-19) : text.slice(0, 19) + '…');
  return rest.length > 0 ? [fit(name), fit(rest.join(', '))] : [fit(name)];
}

export function Diagram({ text }: { text: string }) {
  const [chosen, setChosen] = useState<string | null>(null);
  const chart = useMemo(() => readFlowchart(text), [text]);
  if (!chart) return <pre tabIndex={0}>{text}</pre>;
  const placed = place(chart.nodes, chart.edges);
  const all = [...placed.values()];
  const width = (Math.max(...all.map((n) => n.layer)) + 1) * (box.width + box.gapX);
  const height = (Math.max(...all.map((n) => n.y)) + 1) * (box.height + box.gapY) + 10;
  const x = (n: Node) => n.layer * (box.width + box.gapX) + 4;
  const y = (n: Node) => n.y * (box.height + box.gapY) + 4;
  return (
    <figure class="scroll" tabIndex={0} role="region" aria-label="Diagram">
      <svg class="diagram" width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`Diagram of ${all.length} parts; listed below`}>
        <defs>
          <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerUnits="userSpaceOnUse" markerWidth="9" markerHeight="9" orient="auto">
            <path d="M0,0L8,4L0,8z" />
          </marker>
        </defs>
        {chart.edges.map(([a, b, words], i) => {
          const [from, to] = [placed.get(a)!, placed.get(b)!];
          const [x0, y0, x1, y1] = [x(from) + box.width, y(from) + box.height / 2, x(to), y(to) + box.height / 2];
          const bend = Math.max(30, Math.abs(x1 - x0) / 2);
          return (
            <path key={i} class={chosen === null ? 'edge' : chosen === a || chosen === b ? 'edge chosen' : 'edge other'} marker-end="url(#arrow)" stroke-width={widthOf(words)} d={`M${x0},${y0}C${x0 + bend},${y0} ${x1 - bend},${y1} ${x1},${y1}`}>
              <title>{`${from.label} → ${to.label} ${words}`}</title>
            </path>
          );
        })}
        {all.map((n) => (
          <g key={n.id} onPointerEnter={() => setChosen(n.id)} onPointerLeave={() => setChosen(null)}>
            <rect x={x(n)} y={y(n)} width={box.width} height={box.height} rx={5} />
            {linesOf(n.label).map((line, l) => (
              <text key={l} class={l === 0 ? 'name' : 'amount'} x={x(n) + 8} y={y(n) + 17 + 16 * l}>
                {line}
              </text>
            ))}
            <title>{n.label}</title>
          </g>
        ))}
      </svg>
      <details>
        <summary>The diagram as a list</summary>
        <ul>
          {chart.edges.map(([a, b, words], i) => (
            <li key={i}>
              {placed.get(a)!.label} → {placed.get(b)!.label} {words && `(${words})`}
            </li>
          ))}
          {all.filter((n) => !chart.edges.some(([a, b]) => a === n.id || b === n.id)).map((n) => (
            <li key={n.id}>{n.label}</li>
          ))}
        </ul>
      </details>
    </figure>
  );
}
