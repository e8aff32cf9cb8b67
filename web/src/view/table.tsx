// A table that can be sorted, filtered, and copied as CSV; only the rows in view are in the document.

import { useMemo, useRef, useState } from 'preact/hooks';
import type { Cell, Table } from '../data/facts';
import { number } from '../data/format';

const rowHeight = 24;
const shownAtOnce = 40;

export function csv(columns: string[], rows: Cell[][]): string {
  const quote = (cell: Cell) => {
    let text = cell === null ? '' : String(cell);
    // A spreadsheet would compute a text that begins like a formula.
    if (typeof cell === 'string' && /^[=+\-@\t\r]/.test(text)) text = "'" + text;
    return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  return [columns, ...rows].map((row) => row.map(quote).join(',')).join('\n') + '\n';
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}

// As many decimals for all cells of a column as its largest value needs; tiny values keep their digits.
function columnFormat(values: Cell[]): (value: number) => string {
  let most = 0;
  let isWhole = true;
  for (const v of values) {
    if (typeof v !== 'number') continue;
    most = Math.max(most, Math.abs(v));
    isWhole &&= Number.isInteger(v);
  }
  if (isWhole || most === 0) return number;
  const decimals = most >= 1000 ? 1 : most >= 100 ? 2 : 3;
  const least = 0.5 * 10 ** -decimals;
  const form = new Intl.NumberFormat('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  return (value) => (value !== 0 && Math.abs(value) < least ? value.toPrecision(2) : form.format(value));
}

interface Properties {
  table: Table;
  label: string;
  hidden?: string[]; // columns that are not shown at first
  onRow?: (row: number) => void;
  rowAction?: string; // what onRow does, in words
  full?: boolean; // all rows in the document, for printing and for short tables
  tools?: boolean;
  bars?: string[]; // columns in percent that are drawn too
}

export function DataTable({ table, label, hidden = [], onRow, rowAction, full = false, tools = true, bars }: Properties) {
  const [filter, setFilter] = useState('');
  const [sort, setSort] = useState<{ column: number; down: boolean } | null>(null);
  const [off, setOff] = useState<Set<string>>(() => new Set(hidden));
  const [top, setTop] = useState(0);
  const [said, setSaid] = useState('');
  const scroller = useRef<HTMLDivElement>(null);
  const columns = table.columns.map((column, i) => ({ ...column, i })).filter((column) => !off.has(column.name));

  const formats = useMemo(() => table.columns.map((column, i) => (column.text ? number : columnFormat(table.values[i]))), [table]);
  const order = useMemo(() => {
    const words = filter.toLowerCase();
    const rows: number[] = [];
    for (let r = 0; r < table.rows; r++) {
      if (words === '' || table.values.some((column) => column[r] !== null && String(column[r]).toLowerCase().includes(words))) rows.push(r);
    }
    if (sort) {
      const values = table.values[sort.column];
      const sign = sort.down ? -1 : 1;
      rows.sort((x, y) => {
        const [a, b] = [values[x], values[y]];
        if (a === null || b === null) return a === b ? x - y : a === null ? 1 : -1; // unknown is last
        if (a === b) return x - y;
        return sign * (typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b)));
      });
    }
    return rows;
  }, [table, filter, sort]);

  const first = full ? 0 : Math.max(0, Math.min(Math.floor(top / rowHeight) - 5, order.length - shownAtOnce));
  const shown = full ? order : order.slice(first, first + shownAtOnce);
  const copyAll = async () => {
    const done = await copy(csv(columns.map((c) => c.name), order.map((r) => columns.map((c) => table.values[c.i][r]))));
    setSaid(done ? `${order.length} rows copied` : 'The browser did not allow copying');
  };

  return (
    <div class="table">
      {tools && (
        <div class="tools">
          <label>
            Filter <input type="search" value={filter} onInput={(e) => (setFilter(e.currentTarget.value), setTop(0), setSaid(''))} />
          </label>
          <details class="columns">
            <summary>Columns</summary>
            <div class="menu">
              {table.columns.map((column) => (
                <label key={column.name}>
                  <input
                    type="checkbox"
                    checked={!off.has(column.name)}
                    onChange={() => {
                      const next = new Set(off);
                      if (!next.delete(column.name)) next.add(column.name);
                      setOff(next);
                    }}
                  />
                  {column.name}
                </label>
              ))}
            </div>
          </details>
          <button type="button" onClick={() => void copyAll()}>
            Copy as CSV
          </button>
          <span role="status">
            {said || `${order.length} of ${table.rows} rows`}
            {table.left_out > 0 && ` (${table.left_out} more in ${table.name}.csv)`}
          </span>
        </div>
      )}
      <div class={full ? 'rows full' : 'rows'} ref={scroller} tabIndex={0} role="region" aria-label={label} onScroll={() => setTop(scroller.current!.scrollTop)}>
        <table aria-label={label} aria-rowcount={order.length + 1}>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column.name} scope="col" class={column.text ? '' : 'number'} aria-sort={sort?.column === column.i ? (sort.down ? 'descending' : 'ascending') : 'none'}>
                  <button
                    type="button"
                    title={`Sort by ${column.name}`}
                    onClick={() => setSort({ column: column.i, down: sort?.column === column.i ? !sort.down : !column.text })}
                  >
                    {column.name}
                    {column.unit && !column.name.includes(column.unit) ? ` (${column.unit})` : ''}
                    {sort?.column === column.i ? (sort.down ? ' ↓' : ' ↑') : ''}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {first > 0 && <tr aria-hidden="true" style={{ height: `${first * rowHeight}px` }} />}
            {shown.map((r, i) => (
              <tr
                key={r}
                aria-rowindex={first + i + 2}
                class={onRow ? 'active' : ''}
                tabIndex={onRow ? 0 : undefined}
                title={onRow ? rowAction : undefined}
                onClick={() => onRow?.(r)}
                onKeyDown={(e) => {
                  if (onRow && (e.key === 'Enter' || e.key === ' ')) {
                    e.preventDefault();
                    onRow(r);
                  }
                }}
              >
                {columns.map((column) => {
                  const cell = table.values[column.i][r];
                  return (
                    <td
                      key={column.name}
                      class={column.text ? '' : 'number'}
                      style={bars?.includes(column.name) && typeof cell === 'number' ? { background: `linear-gradient(to right, var(--fill) ${Math.min(100, Math.max(0, cell))}%, transparent 0)` } : undefined}
                      title={typeof cell === 'string' && cell.length > 40 ? cell : undefined}>
                      {cell === null ? '' : typeof cell === 'number' ? formats[column.i](cell) : cell}
                    </td>
                  );
                })}
              </tr>
            ))}
            {!full && first + shown.length < order.length && (
              <tr aria-hidden="true" style={{ height: `${(order.length - first - shown.length) * rowHeight}px` }} />
            )}
          </tbody>
        </table>
      </div>
    </div>
  );
}

// A table of what a picture shows.
export function tableOf(name: string, columns: [string, string?][], rows: Cell[][]): Table {
  return {
    name,
    rows: rows.length,
    left_out: 0,
    columns: columns.map(([column, unit], i) => ({ name: column, unit: unit ?? '', text: rows.length === 0 || rows.some((row) => typeof row[i] === 'string') })),
    values: columns.map((_, i) => rows.map((row) => row[i])),
  };
}
