// Two runs over each other: how busy the GPU is over a step, and what took how long.

import { useMemo } from 'preact/hooks';
import type { Facts, Overlay, Pair, Series } from '../data/facts';
import { millis, percent } from '../data/format';
import { Chart } from './charts';
import { DataTable, tableOf } from './table';

const colours = { a: '#0072b2', b: '#d55e00' };

function change(pair: Pair): string {
  const more = pair.b_ms - pair.a_ms;
  const sign = more >= 0 ? '+' : '−';
  const part = pair.a_ms > 0 ? ` (${sign}${percent(Math.abs(more) / pair.a_ms)})` : ' (only in B)';
  return `${sign}${millis(Math.abs(more))}${pair.b_ms > 0 ? part : ' (only in A)'}`;
}

function Pairs({ pairs, label, unit }: { pairs: Pair[]; label: string; unit: string }) {
  const longest = Math.max(...pairs.map((p) => Math.max(p.a_ms, p.b_ms)), 1e-12);
  return (
    <>
      <h3>{label}</h3>
      <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table class="pairs" aria-label={`${label}, A and B`}>
        <thead>
          <tr>
            <th scope="col">name</th>
            <th scope="col" aria-hidden="true" />
            <th scope="col" class="number">
              A {unit}
            </th>
            <th scope="col" class="number">
              B {unit}
            </th>
            <th scope="col" class="number">
              B against A
            </th>
          </tr>
        </thead>
        <tbody>
          {pairs.map((pair) => (
            <tr key={pair.name}>
              <th scope="row">{pair.name}</th>
              <td aria-hidden="true">
                <div style={{ width: `${(100 * pair.a_ms) / longest}%`, background: colours.a }} />
                <div style={{ width: `${(100 * pair.b_ms) / longest}%`, background: colours.b }} />
              </td>
              <td class="number">{millis(pair.a_ms)}</td>
              <td class="number">{millis(pair.b_ms)}</td>
              <td class="number">{change(pair)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      </div>
    </>
  );
}

// Shares of the busy time, in percent, on the longer step's axis.
function seriesOf(overlay: Overlay): Series {
  const parts = Math.max(overlay.a.busy.length, overlay.b.busy.length);
  const t = Array.from({ length: parts + 1 }, (_, i) => i * overlay.part_ns);
  const values = (busy: number[]) => t.map((_, i) => (i < busy.length ? 100 * busy[i] : i === busy.length ? 0 : null)) as number[];
  return { name: 'GPU busy', points: parts, min: 0, max: 100, t, v: values(overlay.a.busy), peak: values(overlay.b.busy) };
}

export function OverlayView({ facts, full }: { facts: Facts; full?: boolean }) {
  const overlay = facts.overlay!;
  const series = useMemo(() => seriesOf(overlay), [overlay]);
  const mean = (busy: number[]) => (busy.length > 0 ? busy.reduce((x, y) => x + y, 0) / busy.length : 0);
  return (
    <section aria-label="Overlay">
      <h2>A and B over each other</h2>
      <ul class="marks" aria-label="Colours">
        <li>
          <span class="swatch" style={{ background: colours.a }} /> A: {overlay.a.name}, {millis(overlay.a.length_ns / 1e6)}, GPU busy {percent(mean(overlay.a.busy))}
        </li>
        <li>
          <span class="swatch" style={{ background: colours.b }} /> B: {overlay.b.name}, {millis(overlay.b.length_ns / 1e6)}, GPU busy {percent(mean(overlay.b.busy))}
        </li>
      </ul>
      {series.points > 0 && (
        <figure class="series">
          <figcaption>GPU busy over {overlay.unit ? 'the step of median length' : 'the wall time'}, both from its begin</figcaption>
          <Chart series={series} labels={['A', 'B']} unit="%" />
        </figure>
      )}
      {overlay.categories.length > 0 && <Pairs pairs={overlay.categories} label="GPU work by category" unit={overlay.unit} />}
      {overlay.ops.length > 0 && <Pairs pairs={overlay.ops} label="Ops with the largest differences" unit={overlay.unit} />}
      <DataTable
        table={tableOf('GPU busy', [['from', 'ms'], ['A busy', '%'], ['B busy', '%']], series.t.slice(0, -1).map((t, i) => [t / 1e6, i < overlay.a.busy.length ? series.v[i] : null, i < overlay.b.busy.length ? series.peak![i] : null]))}
        label="GPU busy as a table"
        full={full}
      />
    </section>
  );
}
