// Collectives of the trace, by what they do and how much they move.

import type { Cell, Facts } from '../data/facts';
import { binaryBytes } from '../data/format';
import { DataTable, tableOf } from './table';

export const hasCollectives = (facts: Facts): boolean => (facts.tables?.find((t) => t.name === 'coll_analysis')?.rows ?? 0) > 0;

interface Group {
  name: string;
  ranks: string;
  megabytes: number | null;
  count: number;
  micros: number;
  longest: number;
  bandwidth: number[];
}

export function Collectives({ facts, full }: { facts: Facts; full?: boolean }) {
  const table = facts.tables!.find((t) => t.name === 'coll_analysis')!;
  const column = (name: string): Cell[] => table.values[table.columns.findIndex((c) => c.name === name)] ?? [];
  const [names, sizes, ranks, durations, bus] = ['Collective name', 'In msg size (MB)', 'Group size', 'dur', 'bus bw (GB/s)'].map(column);
  const groups = new Map<string, Group>();
  for (let r = 0; r < table.rows; r++) {
    const key = `${names[r]}|${sizes[r]}|${ranks[r]}`;
    let g = groups.get(key);
    if (!g) groups.set(key, (g = { name: String(names[r] || 'without a name in the trace'), ranks: String(ranks[r] ?? ''), megabytes: sizes[r] as number | null, count: 0, micros: 0, longest: 0, bandwidth: [] }));
    const duration = Number(durations[r] ?? 0);
    g.count++;
    g.micros += duration;
    g.longest = Math.max(g.longest, duration);
    if (typeof bus[r] === 'number') g.bandwidth.push(bus[r] as number);
  }
  const list = [...groups.values()].sort((x, y) => y.micros - x.micros);
  const most = list[0]?.micros || 1;
  return (
    <section aria-label="Collectives">
      <h2>Collectives</h2>
      <div class="hbars" aria-hidden="true">
        {list.slice(0, 20).map((g) => (
          <div key={g.name + g.megabytes}>
            <span class="name">
              {g.name} {g.megabytes !== null && binaryBytes(g.megabytes * 2 ** 20)}
            </span>
            <span class="track">
              <span style={{ width: `${(100 * g.micros) / most}%` }} />
            </span>
            <span class="number">{(g.micros / 1e3).toFixed(2)} ms</span>
          </div>
        ))}
      </div>
      <DataTable
        table={tableOf(
          'collectives',
          [['collective'], ['message', 'bytes'], ['ranks'], ['count'], ['total', 'ms'], ['longest', 'ms'], ['mean bus bandwidth', 'GB/s']],
          list.map((g) => [g.name, g.megabytes === null ? null : Math.round(g.megabytes * 2 ** 20), g.ranks, g.count, g.micros / 1e3, g.longest / 1e3, g.bandwidth.length === 0 ? null : g.bandwidth.reduce((a, b) => a + b, 0) / g.bandwidth.length]),
        )}
        label="Collectives by kind"
        full={full}
      />
      <h3>Each collective</h3>
      <DataTable table={table} label="Each collective" full={full} hidden={['Process Group Description', 'Process Group Ranks', 'In split size', 'Out split size', 'UID']} />
    </section>
  );
}
