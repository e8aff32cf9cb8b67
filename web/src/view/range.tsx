// Sums over a selected range, and the events in view as a table.

import { useEffect, useMemo, useState } from 'preact/hooks';
import { firstAfter } from '../data/columns';
import type { Facts } from '../data/facts';
import { moment, time } from '../data/format';
import { store } from '../store';
import type { EventAt, RangeSum, SumKeys, Timeline } from '../timeline/model';
import { DataTable, tableOf } from './table';

const named: [string, string][] = [
  ['GPU work by category', 'category'],
  ['GPU work by op', 'op'],
  ['GPU work by stream', 'stream'],
  ['Idle time by cause', 'cause'],
  ['CPU time by op or call', 'op or call'],
];

export function RangeSums({ facts, timeline, span }: { facts: Facts; timeline: Timeline; span: [number, number] }) {
  const [sums, setSums] = useState<RangeSum[][] | null>(null);
  useEffect(() => {
    let current = true;
    setSums(null);
    const label = (c: number) => timeline.categories[c]?.label ?? 'other';
    const keys: SumKeys[] = [
      { kind: 'stream', key: (c, i) => label(c.category[i]) },
      { kind: 'stream', key: (c, i) => (c.op[i] > 0 ? (facts.ops?.[c.op[i] - 1]?.name ?? 'further ops') : timeline.text(c.name[i])) },
      { kind: 'stream', key: (_c, _i, track) => `${track.group} ${track.name}` },
      { kind: 'idle', key: (c, i) => label(c.category[i]) },
      { kind: 'thread', key: (c, i) => timeline.text(c.name[i]) },
    ];
    void timeline.sums(...span, keys, () => current).then((found) => current && setSums(found));
    return () => {
      current = false;
    };
  }, [span[0], span[1], timeline]);

  const tables = useMemo(() => {
    const length = span[1] - span[0];
    return named
      .map(([name, first], n) => ({
        name,
        table: tableOf(name, [[first], ['events'], ['time', 'ms'], ['share', '%']], (sums?.[n] ?? []).slice(0, 200).map((s) => [s.key, s.events, s.time / 1e6, (100 * s.time) / length])),
      }))
      .filter(({ table }) => table.rows > 0);
  }, [sums]);

  return (
    <section class="range" aria-label="Selected range">
      <h3>
        Selected: {time(span[1] - span[0])} from {moment(span[0], (span[1] - span[0]) / 100, timeline.length)}{' '}
        <button type="button" onClick={() => store.set({ span: null })}>
          Clear
        </button>
      </h3>
      {sums === null && <p role="status">Adding up the events …</p>}
      {sums !== null && tables.length === 0 && <p>No event lies in this range.</p>}
      <div class="sums">
        {tables.map(({ name, table }) => (
          <div key={name}>
            <h4>{name}</h4>
            <DataTable table={table} label={name} tools={false} full={table.rows < 12} />
          </div>
        ))}
      </div>
    </section>
  );
}

// The longest events in view: what the picture shows, for those who do not see it.
export function EventsInView({ timeline, range, onSelect }: { timeline: Timeline; range: [number, number]; onSelect: (event: EventAt) => void }) {
  const [open, setOpen] = useState(false);
  const [settled, setSettled] = useState(range);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(range), 250);
    return () => clearTimeout(timer);
  }, [range[0], range[1]]);
  const events = useMemo(() => (open ? longest(timeline, settled, 200) : []), [open, settled, timeline]);
  const table = useMemo(
    () =>
      tableOf(
        'events in view',
        [['event'], ['track'], ['kind'], ['start', 'ms'], ['duration', 'ms']],
        events.map((e) => [
          timeline.text(e.chunk.name[e.index]),
          `${e.track.group} ${e.track.name}`,
          timeline.categories[e.chunk.category[e.index]]?.label ?? '',
          e.chunk.start[e.index] / 1e6,
          (e.chunk.end[e.index] - e.chunk.start[e.index]) / 1e6,
        ]),
      ),
    [events],
  );
  return (
    <details class="inview" open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>The longest events in view as a table</summary>
      {open && <DataTable table={table} label="Events in view" onRow={(row) => onSelect(events[row])} rowAction="Select this event" />}
    </details>
  );
}

function longest(timeline: Timeline, [begin, end]: [number, number], most: number): EventAt[] {
  const found: { event: EventAt; length: number }[] = [];
  let least = 0;
  for (const track of timeline.tracks) {
    track.rows.forEach((row, r) => {
      for (const { chunk } of row.within(begin, end)) {
        if (!chunk) continue;
        for (let i = firstAfter(chunk, begin); i < chunk.size && chunk.start[i] < end; i++) {
          const length = chunk.end[i] - chunk.start[i];
          if (found.length >= most && length <= least) continue;
          found.push({ event: { number: chunk.first + i, track, row: r, chunk, index: i }, length });
          if (found.length > 4 * most) {
            found.sort((x, y) => y.length - x.length);
            found.length = most;
            least = found[most - 1].length;
          }
        }
      }
    });
  }
  return found
    .sort((x, y) => y.length - x.length)
    .slice(0, most)
    .map((f) => f.event);
}
