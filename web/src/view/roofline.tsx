// Ops and counted kernels against the GPU's limits, on logarithmic scales.

import { useState } from 'preact/hooks';
import { category } from '../data/categories';
import type { CountedKernel, Facts, Limit, Op } from '../data/facts';
import { count, millis, percent, scaled, shortName } from '../data/format';
import { store } from '../store';
import { DataTable, tableOf } from './table';

interface Point {
  key: string;
  name: string;
  words: string; // shapes, or grid and block
  share: number; // of GPU time
  time_ms: number;
  calls: number;
  colour: string;
  intensity: number;
  rate: number;
  op?: Op; // estimated by a cost model
  index?: number; // of the op
  kernel?: CountedKernel; // counted by the hardware
}

const width = 880;
const height = 460;
const edge = { left: 84, right: 20, top: 16, bottom: 44 };
const mostPoints = 200;
const countedColour = '#d55e00';

function opPoints(ops: Op[], counted: Set<string>): Point[] {
  const points: Point[] = [];
  ops.forEach((op, index) => {
    if (!op.flops || !op.bytes || op.time_ms <= 0 || points.length >= mostPoints) return;
    // Measured where it was counted.
    if (op.kernels.length > 0 && op.kernels.every((name) => counted.has(name))) return;
    points.push({
      key: `o${index}`,
      name: op.name,
      words: op.shapes,
      share: op.share,
      time_ms: op.time_ms,
      calls: op.calls,
      colour: category(op.colour).colour,
      intensity: op.flops / op.bytes,
      rate: (op.flops * op.calls) / (op.time_ms / 1e3),
      op,
      index,
    });
  });
  return points;
}

function kernelPoints(kernels: CountedKernel[], busy: number): Point[] {
  return kernels.flatMap((kernel, i) => {
    if (!kernel.intensity || !kernel.flop_rate || !kernel.trusted) return [];
    const launch = [kernel.grid && `grid ${kernel.grid}`, kernel.block && `block ${kernel.block}`].filter(Boolean).join(', ');
    return [{
      key: `k${i}`,
      name: shortName(kernel.name),
      words: launch,
      share: busy > 0 ? kernel.time_ms / busy : 0,
      time_ms: kernel.time_ms,
      calls: kernel.count,
      colour: countedColour,
      intensity: kernel.intensity,
      rate: kernel.flop_rate,
      kernel,
    }];
  });
}

export function Roofline({ facts, full }: { facts: Facts; full?: boolean }) {
  const [chosen, setChosen] = useState<string | null>(null);
  const limits = facts.limits;
  const busy = facts.summary?.gpu_timeline_ms.busy ?? 0;
  const counted = kernelPoints(facts.hardware?.kernels ?? [], busy);
  const modelled = opPoints(facts.ops ?? [], new Set(counted.map((p) => p.kernel!.name)));
  const points = [...modelled, ...counted];
  const memory = limits?.memory[0];
  if (!limits || !memory || points.length === 0)
    return (
      <section aria-label="Roofline">
        <p>No roofline: {limits ? 'no op of this trace has a cost model, and no kernel was counted' : 'the GPU is unknown; set --platform'}.</p>
      </section>
    );
  const used = new Set(modelled.map((p) => p.op!.rate));
  // Which unit a counted kernel used is not known: with counted points alone, all limits are shown.
  const roofs = limits.compute.filter((l) => modelled.length === 0 || used.has(l.name));
  const shown = points.find((p) => p.key === chosen);
  return (
    <section aria-label="Roofline">
      <h2>{counted.length > 0 ? 'Ops and counted kernels' : 'Ops'} against the limits of {limits.platform}</h2>
      <p class="sub">
        The area of a point is its share of GPU time. A limit is the achievable rate where one was measured, else the vendor's peak.
      </p>
      <ul class="marks" aria-label="Marks">
        {modelled.length > 0 && (
          <li>
            <span class="swatch round outline" />
            estimated: {modelled.length} ops, FLOP and least bytes of a cost model, measured time
          </li>
        )}
        {modelled.length > 0 &&
          [...new Set(modelled.map((p) => p.op!.colour))].map((key) => (
            <li key={key}>
              <span class="swatch round" style={{ background: category(key).colour }} />
              {category(key).label}
            </li>
          ))}
        {counted.length > 0 && (
          <li>
            <span class="swatch" style={{ background: countedColour }} />
            measured: {counted.length} kernels, FLOP and DRAM bytes counted by the hardware
          </li>
        )}
        {counted.length === 0 && <li class="sub">No kernel was counted: fathom record --counters, or ncu, adds measured points.</li>}
      </ul>
      <Chart points={points} roofs={roofs} memory={memory} chosen={chosen} onChoose={setChosen} />
      {shown && <PointDetails point={shown} />}
      <DataTable
        table={tableOf(
          'roofline',
          [['op or kernel'], ['shapes or launch'], ['evidence'], ['calls'], ['GPU time', 'ms'], ['FLOP per byte'], ['rate', 'TFLOP/s'], ['bandwidth', 'GB/s'], ['limit'], ['of the limit', '%']],
          points.map((p) => [
            p.name,
            p.words,
            p.kernel ? 'measured' : 'estimated',
            p.calls,
            p.time_ms,
            p.intensity,
            p.rate / 1e12,
            p.rate / p.intensity / 1e9,
            p.op?.bound ?? null,
            p.op?.efficiency == null ? null : 100 * p.op.efficiency,
          ]),
        )}
        label="Roofline as a table"
        onRow={(row) => setChosen(points[row].key)}
        rowAction="Show this point"
        full={full}
      />
    </section>
  );
}

function PointDetails({ point: p }: { point: Point }) {
  return (
    <aside class="details" aria-label="Selected point">
      <h3>{p.kernel ? p.kernel.name : p.name}</h3>
      <dl>
        <dt>{p.kernel ? 'Launch' : 'Shapes'}</dt>
        <dd>{p.words || 'not recorded'}</dd>
        <dt>Calls</dt>
        <dd>
          {count(p.calls)}, {millis(p.time_ms)}, {percent(p.share)} of GPU time
        </dd>
        <dt>Rate</dt>
        <dd>
          {scaled(p.rate, 'FLOP/s')}, {scaled(p.rate / p.intensity, 'B/s')}
          {p.op && `; ${p.op.efficiency === null ? p.op.no_limit || 'limit unknown' : `${percent(p.op.efficiency)} of the ${p.op.bound} limit`}`}
        </dd>
        <dt>Evidence</dt>
        <dd>{p.kernel ? `measured: counters of ${p.kernel.file}, joined ${p.kernel.join}` : `estimated: cost model${p.op!.assumption ? `, ${p.op!.assumption}` : ''}; the time is measured`}</dd>
        {p.kernel?.source && (
          <>
            <dt>Source</dt>
            <dd>{p.kernel.source}</dd>
          </>
        )}
        {p.op && (
          <>
            <dt>Kernels</dt>
            <dd>{p.op.kernels.map((k) => <div key={k}>{k}</div>)}</dd>
          </>
        )}
      </dl>
      <button
        type="button"
        onClick={() =>
          p.op
            ? store.set({ view: 'timeline', op: p.index!, event: null, finding: null, query: '' })
            : store.set({ view: 'timeline', op: null, event: null, finding: null, query: p.name })
        }
      >
        Show in the timeline
      </button>
    </aside>
  );
}

interface ChartProperties {
  points: Point[];
  roofs: Limit[];
  memory: Limit;
  chosen: string | null;
  onChoose: (key: string) => void;
}

function Chart({ points, roofs, memory, chosen, onChoose }: ChartProperties) {
  const [tip, setTip] = useState<{ point: Point; x: number; y: number } | null>(null);
  const ridges = roofs.map((roof) => roof.rate / memory.rate);
  const xs = [...points.map((p) => p.intensity), ...ridges];
  const ys = [...points.map((p) => p.rate), ...roofs.map((roof) => roof.rate)];
  const [x0, x1] = [Math.min(...xs) / 3, Math.max(...xs) * 3].map(Math.log10);
  const [y0, y1] = [Math.min(...ys) / 3, Math.max(...ys) * 2].map(Math.log10);
  const x = (v: number) => edge.left + ((Math.log10(v) - x0) / (x1 - x0)) * (width - edge.left - edge.right);
  const y = (v: number) => height - edge.bottom - ((Math.log10(v) - y0) / (y1 - y0)) * (height - edge.top - edge.bottom);
  const decades = (from: number, to: number) => Array.from({ length: Math.max(0, Math.floor(to) - Math.ceil(from) + 1) }, (_, i) => 10 ** (Math.ceil(from) + i));
  const slope = Math.max(10 ** x0, 10 ** y0 / memory.rate) * 1.3; // where the memory's line is named, along it
  const tilt = (180 / Math.PI) * Math.atan2(y(slope * 10 * memory.rate) - y(slope * memory.rate), x(slope * 10) - x(slope));
  // Over the points, with a rim: both stay readable.
  const labels = (
    <g class="labels">
      {roofs.map((roof) => (
        <text key={roof.name} x={width - edge.right - 4} y={y(roof.rate) - 5} text-anchor="end">
          {roof.name.replace(/_/g, ' ')} {scaled(roof.rate, 'FLOP/s')} ({roof.achievable ? 'achievable' : 'peak'})
        </text>
      ))}
      <text transform={`translate(${x(slope)},${y(slope * memory.rate) - 7}) rotate(${tilt})`}>
        memory {scaled(memory.rate, 'B/s')} ({memory.achievable ? 'achievable' : 'peak'})
      </text>
    </g>
  );
  return (
    <div class="scroll">
    <svg class="roofline" viewBox={`0 0 ${width} ${height}`} role="group" aria-label="Roofline: rate over FLOP per byte; the same values are in the table below">
      {decades(x0, x1).map((v) => (
        <g key={v}>
          <line class="grid" x1={x(v)} x2={x(v)} y1={edge.top} y2={height - edge.bottom} />
          <text x={x(v)} y={height - edge.bottom + 16} text-anchor="middle">
            {v >= 1 ? v.toLocaleString('en-US') : String(Number(v.toPrecision(1)))}
          </text>
        </g>
      ))}
      {decades(y0, y1).map((v) => (
        <g key={v}>
          <line class="grid" x1={edge.left} x2={width - edge.right} y1={y(v)} y2={y(v)} />
          <text x={edge.left - 6} y={y(v) + 4} text-anchor="end">
            {scaled(v, 'FLOP/s').replace('.00', '').replace('.0', '')}
          </text>
        </g>
      ))}
      <text x={(width + edge.left) / 2} y={height - 8} text-anchor="middle">
        FLOP per byte
      </text>
      {roofs.map((roof) => {
        const ridge = roof.rate / memory.rate;
        const begin = Math.max(10 ** x0, 10 ** y0 / memory.rate);
        return (
          <g key={roof.name}>
            <path class="roof" d={`M${x(begin)},${y(begin * memory.rate)}L${x(ridge)},${y(roof.rate)}H${width - edge.right}`} />
          </g>
        );
      })}
      {points.map((p) => {
        const size = Math.max(4, 34 * Math.sqrt(p.share));
        const common = {
          key: p.key,
          fill: p.colour,
          class: chosen === p.key ? 'point chosen' : 'point',
          tabindex: 0,
          role: 'button' as const,
          'aria-label': `${p.name} ${p.words}, ${p.kernel ? 'measured' : 'estimated'}: ${scaled(p.rate, 'FLOP/s')}, ${percent(p.share)} of GPU time`,
          onClick: () => onChoose(p.key),
          onPointerEnter: (e: PointerEvent) => setTip({ point: p, x: e.clientX, y: e.clientY }),
          onPointerLeave: () => setTip(null),
          onKeyDown: (e: KeyboardEvent) => {
            if (e.key === 'Enter' || e.key === ' ') {
              e.preventDefault();
              onChoose(p.key);
            }
          },
        };
        // The square has the circle's area.
        const half = 0.886 * size;
        return p.kernel ? (
          <rect x={x(p.intensity) - half} y={y(p.rate) - half} width={2 * half} height={2 * half} {...common} />
        ) : (
          <circle cx={x(p.intensity)} cy={y(p.rate)} r={size} {...common} />
        );
      })}
      {labels}
    </svg>
    {tip && (
      <div class="tip" style={{ left: `${Math.max(4, Math.min(tip.x + 14, innerWidth - 340))}px`, top: `${Math.min(tip.y + 14, innerHeight - 120)}px` }}>
        <b>{tip.point.name}</b> {tip.point.words}
        <br />
        {scaled(tip.point.rate, 'FLOP/s')}, {scaled(tip.point.rate / tip.point.intensity, 'B/s')}, {tip.point.kernel ? 'measured' : 'estimated'}
        <br />
        {count(tip.point.calls)} calls, {percent(tip.point.share)} of GPU time
        {tip.point.op?.efficiency != null && ` · ${percent(tip.point.op.efficiency)} of the ${tip.point.op.bound} limit`}
      </div>
    )}
    </div>
  );
}
