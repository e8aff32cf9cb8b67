// A flowchart of a report (a ```mermaid block) in layers from left to right; its text is its table.

interface Node {
  id: string;
  label: string;
  layer: number;
  y: number;
}

const box = { width: 190, height: 30, gapX: 70, gapY: 12 };
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

function place(nodes: Map<string, string>, edges: [string, string, string][]): Map<string, Node> {
  // Longest way from a source; edges that close a circle are left out of it.
  const layers = new Map([...nodes.keys()].map((id) => [id, 0]));
  for (let round = 0; round < Math.min(nodes.size, 12); round++) {
    for (const [a, b] of edges) if (a !== b && layers.get(b)! < layers.get(a)! + 1 && layers.get(a)! + 1 <= round + 1) layers.set(b, layers.get(a)! + 1);
  }
  const filled: number[] = [];
  const placed = new Map<string, Node>();
  for (const [id, label] of nodes) {
    const layer = layers.get(id)!;
    const row = (filled[layer] ??= 0);
    filled[layer] = row + 1;
    placed.set(id, { id, label, layer, y: row });
  }
  return placed;
}

export function Diagram({ text }: { text: string }) {
  const chart = readFlowchart(text);
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
        {chart.edges.map(([a, b, words], i) => {
          const [from, to] = [placed.get(a)!, placed.get(b)!];
          const [x0, y0, x1, y1] = [x(from) + box.width, y(from) + box.height / 2, x(to), y(to) + box.height / 2];
          const bend = Math.max(30, Math.abs(x1 - x0) / 2);
          return (
            <path key={i} class="edge" d={`M${x0},${y0}C${x0 + bend},${y0} ${x1 - bend},${y1} ${x1},${y1}`}>
              <title>{`${from.label} → ${to.label} ${words}`}</title>
            </path>
          );
        })}
        {all.map((n) => (
          <g key={n.id}>
            <rect x={x(n)} y={y(n)} width={box.width} height={box.height} rx={5} />
            <text x={x(n) + 8} y={y(n) + 19}>
              {n.label.length > 29 ? n.label.slice(0, 28) + '…' : n.label}
            </text>
            <title>{n.label}</title>
          </g>
        ))}
      </svg>
      <details>
        <summary>The diagram as a list</summary>
        <ul>
          {chart.edges.map(([a, b, words], i) => (
            <li key={i}>
              {placed.get(a)!.label} → {placed.get(b)!.label} {words}
            </li>
          ))}
        </ul>
      </details>
    </figure>
  );
}
