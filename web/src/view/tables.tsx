// All tables of the report; the ops first.

import { useMemo } from 'preact/hooks';
import type { Facts, Op, Table } from '../data/facts';
import { store, useStore } from '../store';
import { DataTable, tableOf } from './table';

// Columns of the op table that few readers want: the picker shows them.
const rarelyWanted = /(_std|_min|_max|_median|process_|thread_name|Strides|Concrete|kernel_details|trunc_|perf_params|ex_UID|_mean$)/;
const ops = 'ops';

// What most readers look for in one row, without the columns that other programs expect.
function opTable(facts: Facts): Table {
  const rate = (op: Op, amount: number | undefined, scale: number) => (amount === undefined || op.time_ms <= 0 ? null : (amount * op.calls) / (op.time_ms / 1e3) / scale);
  return tableOf(
    ops,
    [['op'], ['shapes'], ['calls'], ['GPU time', 'ms'], ['share', '%'], ['of the limit', '%'], ['limit'], ['mean', 'µs'], ['TFLOP/s'], ['GB/s'], ['source'], ['category'], ['kernels']],
    (facts.ops ?? []).map((op) => [
      op.name,
      op.shapes,
      op.calls,
      op.time_ms,
      100 * op.share,
      op.efficiency === null ? null : 100 * op.efficiency,
      op.bound || null,
      (1e3 * op.time_ms) / Math.max(1, op.calls),
      rate(op, op.flops, 1e12),
      rate(op, op.bytes, 1e9),
      op.sources.filter((s) => s !== '').join('; ') || null,
      op.category,
      op.kernels.join('; '),
    ]),
  );
}

function hiddenOf(table: Table): string[] {
  if (table.columns.length <= 12) return [];
  return table.columns.map((c) => c.name).filter((name) => rarelyWanted.test(name) && !/^(TFLOPS|TB)\/s_mean$/.test(name));
}

export function Tables({ facts, full }: { facts: Facts; full?: boolean }) {
  const state = useStore();
  const own = useMemo(() => opTable(facts), [facts]);
  const tables = [own, ...(facts.tables ?? [])].filter((t) => t.rows > 0);
  const chosen = tables.find((t) => t.name === state.table) ?? tables[0];
  if (!chosen) return <section aria-label="Tables"><p>The report has no tables.</p></section>;
  const named = chosen.columns.findIndex((c) => c.name === 'name' || c.name === 'op');
  return (
    <section aria-label="Tables">
      <div class="tools">
        <label>
          Table{' '}
          <select id="table" value={chosen.name} onChange={(e) => store.set({ table: e.currentTarget.value })}>
            {tables.map((t) => (
              <option key={t.name} value={t.name}>
                {t === own ? 'ops by shape' : t.name} ({t.rows + t.left_out})
              </option>
            ))}
          </select>
        </label>
      </div>
      <DataTable
        key={chosen.name}
        table={chosen}
        label={chosen.name}
        hidden={chosen === own ? ['kernels', ...(own.values[10].every((v) => v === null) ? ['source'] : [])] : hiddenOf(chosen)}
        bars={chosen === own ? ['share', 'of the limit'] : undefined}
        full={full}
        onRow={
          chosen === own && facts.timeline
            ? (row) => store.set({ view: 'timeline', op: row, query: '', event: null, finding: null })
            : named >= 0 && facts.timeline
            ? (row) => store.set({ view: 'timeline', query: String(chosen.values[named][row] ?? '').replace(/->.*$/, ''), event: null, op: null, finding: null })
            : undefined
        }
        rowAction="Show it in the timeline"
      />
    </section>
  );
}
