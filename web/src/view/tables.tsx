// All tables of the report; the ops first.

import type { Facts, Table } from '../data/facts';
import { store, useStore } from '../store';
import { DataTable } from './table';

// Columns of the op table that few readers want: the picker shows them.
const rarelyWanted = /(_std|_min|_max|_median|process_|thread_name|Strides|Concrete|kernel_details|trunc_|perf_params|ex_UID|_mean$)/;
const first = 'unified_perf_summary';

function hiddenOf(table: Table): string[] {
  if (table.columns.length <= 12) return [];
  return table.columns.map((c) => c.name).filter((name) => rarelyWanted.test(name) && !/^(TFLOPS|TB)\/s_mean$/.test(name));
}

export function Tables({ facts, full }: { facts: Facts; full?: boolean }) {
  const state = useStore();
  const tables = (facts.tables ?? []).filter((t) => t.rows > 0);
  const chosen = tables.find((t) => t.name === state.table) ?? tables.find((t) => t.name === first) ?? tables[0];
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
                {t.name} ({t.rows + t.left_out})
              </option>
            ))}
          </select>
        </label>
      </div>
      <DataTable
        key={chosen.name}
        table={chosen}
        label={chosen.name}
        hidden={hiddenOf(chosen)}
        full={full}
        onRow={
          named >= 0 && facts.timeline
            ? (row) => store.set({ view: 'timeline', query: String(chosen.values[named][row] ?? '').replace(/->.*$/, ''), event: null, op: null, finding: null })
            : undefined
        }
        rowAction="Search for it in the timeline"
      />
    </section>
  );
}
