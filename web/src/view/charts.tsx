// Values over time: memory, queues, sampled counters.

import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import type { Facts, Series } from '../data/facts';
import { moment, number, scaled, time } from '../data/format';
import { DataTable, tableOf } from './table';

// Bytes are read in larger units.
function valueText(value: number, name: string, unit?: string): string {
  return name.endsWith('(bytes)') ? scaled(value, 'B') : `${number(value)}${unit ? ` ${unit}` : ''}`;
}

function ink(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// `labels`: of the two lines; `unit`: of the values.
const roundTimes = Array.from({ length: 14 }, (_, power) => [1, 2, 5].map((n) => n * 10 ** power)).flat(); // ns

export function Chart({ series, labels, unit }: { series: Series; labels?: [string, string]; unit?: string }) {
  const place = useRef<HTMLDivElement>(null);
  const [theme, setTheme] = useState(0);
  useEffect(() => {
    const again = () => setTheme((n) => n + 1);
    addEventListener('fathom-theme', again);
    return () => removeEventListener('fathom-theme', again);
  }, []);
  useEffect(() => {
    const wide = () => Math.max(300, place.current!.clientWidth);
    const axis = { stroke: ink('--faint'), grid: { stroke: ink('--line'), width: 1 }, ticks: { stroke: ink('--line') } };
    const lines: uPlot.Series[] = [
      { label: 'time', value: (_u, v) => (v === null ? '' : time(v)) },
      { label: labels?.[0] ?? (series.peak ? 'mean' : 'value'), stroke: '#0072b2', width: 1.5, paths: uPlot.paths.stepped!({ align: 1 }), value: (_u, v) => (v === null ? '' : valueText(v, series.name, unit)) },
    ];
    const data: number[][] = [series.t, series.v];
    if (series.peak) {
      lines.push({ label: labels?.[1] ?? 'largest', stroke: '#d55e00', width: labels ? 1.5 : 1, paths: uPlot.paths.stepped!({ align: 1 }), value: (_u, v) => (v === null ? '' : valueText(v, series.name, unit)) });
      data.push(series.peak);
    }
    const plot = new uPlot(
      {
        width: wide(),
        height: 190,
        scales: { x: { time: false } },
        axes: [{ ...axis, space: 90, incrs: roundTimes, values: (_u, ticks) => ticks.map((t) => moment(t, (ticks[1] ?? t + 1) - ticks[0], ticks[ticks.length - 1])) }, { ...axis, size: 80, values: (_u, ticks) => ticks.map((v) => valueText(v, series.name, unit)) }],
        series: lines,
        cursor: { drag: { x: true, y: false } },
      },
      data as uPlot.AlignedData,
      place.current!,
    );
    const resize = new ResizeObserver(() => plot.setSize({ width: wide(), height: 190 }));
    resize.observe(place.current!);
    return () => {
      resize.disconnect();
      plot.destroy();
    };
  }, [series, theme]);
  return <div ref={place} class="chart" />;
}

export function Counters({ facts, full }: { facts: Facts; full?: boolean }) {
  // Memory first: what a reader asks for most.
  const isMemory = (s: Series) => /\bmemory\b/.test(s.name);
  const all = [...(facts.timeline?.series ?? [])].sort((x, y) => Number(isMemory(y)) - Number(isMemory(x)));
  const [chosen, setChosen] = useState<Set<number>>(() => new Set(all.map((_, i) => i).slice(0, 4)));
  if (all.length === 0)
    return (
      <section aria-label="Counters">
        <p>The trace has no counters over time. profile_memory=True or fathom record adds memory; fathom record --pm-sampling adds hardware counters.</p>
      </section>
    );
  return (
    <section aria-label="Counters">
      <h2>Counters over time</h2>
      <DataTable
        table={tableOf('counters', [['counter'], ['values'], ['smallest'], ['largest']], all.map((s) => [s.name, s.points, s.min, s.max]))}
        label="Counters as a table"
        onRow={(row) => {
          const next = new Set(chosen);
          if (!next.delete(row)) next.add(row);
          setChosen(next);
        }}
        rowAction="Show or hide this counter"
        full={full || all.length < 12}
      />
      {all.map((s, i) => {
        if (!chosen.has(i)) return null;
        return (
          <figure key={s.name + i} class="series">
            <figcaption>{s.name.replace(' (bytes)', '')}</figcaption>
            <Chart series={s} />
          </figure>
        );
      })}
      <p class="sub">Drag in a chart to zoom, double-click for the whole. Of more than 2,048 values a chart shows the mean and the largest of each part of the time.</p>
    </section>
  );
}
