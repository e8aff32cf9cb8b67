// Ops against the GPU's limits, on logarithmic scales.

import { useState } from 'preact/hooks';
import { category } from '../data/categories';
import type { Facts, Limit, Op } from '../data/facts';
import { count, millis, percent, scaled } from '../data/format';
import { store } from '../store';
import { DataTable, tableOf } from './table';

interface Point {
  op: Op;
  index: number;
  intensity: number;
  rate: number;
}

const width = 880;
const height = 460;
const edge = { left: 84, right: 20, top: 16, bottom: 44 };
const mostPoints = 200;

function pointsOf(ops: Op[]): Point[] {
  const points: Point[] = [];
  ops.forEach((op, index) => {
    if (!op.flops || !op.bytes || op.time_ms <= 0 || points.length >= mostPoints) return;
    points.push({ op, index, intensity: op.flops / op.bytes, rate: (op.flops * op.calls) / (op.time_ms / 1e3) });
  });
  return points;
}

export function Roofline({ facts, full }: { facts: Facts; full?: boolean }) {
  const [chosen, setChosen] = useState<number | null>(null);
  const limits = facts.limits;
  const points = pointsOf(facts.ops ?? []);
  const memory = limits?.memory[0];
  if (!limits || !memory || points.length === 0)
    return (
      <section aria-label="Roofline">
        <p>No roofline: {limits ? 'no op of this trace has a cost model' : 'the GPU is unknown; set --platform'}.</p>
      </section>
    );
  const used = new Set(points.map((p) => p.op.rate));
  const roofs = limits.compute.filter((l) => used.has(l.name));
  const shown = chosen === null ? undefined : points.find((p) => p.index === chosen);
  return (
    <section aria-label="Roofline">
      <h2>Ops against the limits of {limits.platform}</h2>
      <p class="sub">
        FLOP and bytes are those of cost models (estimated); times are measured. The area of a point is its share of GPU time. A limit is the achievable rate where one
        was measured, else the vendor's peak.
      </p>
      <Chart points={points} roofs={roofs} memory={memory} chosen={chosen} onChoose={setChosen} />
      {shown && <PointDetails point={shown} />}
      <DataTable
        table={tableOf(
          'roofline',
          [['op'], ['shapes'], ['calls'], ['GPU time', 'ms'], ['FLOP per byte'], ['rate', 'TFLOP/s'], ['bandwidth', 'GB/s'], ['limit'], ['of the limit', '%']],
          points.map((p) => [
            p.op.name,
            p.op.shapes,
            p.op.calls,
            p.op.time_ms,
            p.intensity,
            p.rate / 1e12,
            p.rate / p.intensity / 1e9,
            p.op.bound,
            p.op.efficiency === null ? null : 100 * p.op.efficiency,
          ]),
        )}
        label="Roofline as a table"
        onRow={(row) => setChosen(points[row].index)}
        rowAction="Show this op"
        full={full}
      />
    </section>
  );
}

function PointDetails({ point: p }: { point: Point }) {
  return (
    <aside class="details" aria-label="Selected op">
      <h3>{p.op.name}</h3>
      <dl>
        <dt>Shapes</dt>
        <dd>{p.op.shapes || 'not recorded'}</dd>
        <dt>Calls</dt>
        <dd>
          {count(p.op.calls)}, {millis(p.op.time_ms)}, {percent(p.op.share)} of GPU time
        </dd>
        <dt>Rate</dt>
        <dd>
          {scaled(p.rate, 'FLOP/s')}, {scaled(p.rate / p.intensity, 'B/s')}; {p.op.efficiency === null ? p.op.no_limit || 'limit unknown' : `${percent(p.op.efficiency)} of the ${p.op.bound} limit`}
        </dd>
        {p.op.assumption && (
          <>
            <dt>Assumed</dt>
            <dd>{p.op.assumption}</dd>
          </>
        )}
        <dt>Kernels</dt>
        <dd>{p.op.kernels.map((k) => <div key={k}>{k}</div>)}</dd>
      </dl>
      <button type="button" onClick={() => store.set({ view: 'timeline', op: p.index, event: null, finding: null, query: '' })}>
        Show in the timeline
      </button>
    </aside>
  );
}

interface ChartProperties {
  points: Point[];
  roofs: Limit[];
  memory: Limit;
  chosen: number | null;
  onChoose: (index: number) => void;
}

function Chart({ points, roofs, memory, chosen, onChoose }: ChartProperties) {
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
  return (
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
            <text x={width - edge.right - 4} y={y(roof.rate) - 5} text-anchor="end">
              {roof.name} {scaled(roof.rate, 'FLOP/s')} ({roof.achievable ? 'achievable' : 'peak'})
            </text>
          </g>
        );
      })}
      <text class="slope" transform={`translate(${x(slope)},${y(slope * memory.rate) - 7}) rotate(${tilt})`}>
        memory {scaled(memory.rate, 'B/s')} ({memory.achievable ? 'achievable' : 'peak'})
      </text>
      {points.map((p) => (
        <circle
          key={p.index}
          cx={x(p.intensity)}
          cy={y(p.rate)}
          r={Math.max(4, 34 * Math.sqrt(p.op.share))}
          fill={category(p.op.colour).colour}
          class={chosen === p.index ? 'point chosen' : 'point'}
          tabindex={0}
          role="button"
          aria-label={`${p.op.name} ${p.op.shapes}: ${scaled(p.rate, 'FLOP/s')}, ${percent(p.op.share)} of GPU time`}
          onClick={() => onChoose(p.index)}
          onKeyDown={(e) => {
            if (e.key === 'Enter' || e.key === ' ') {
              e.preventDefault();
              onChoose(p.index);
            }
          }}
        >
          <title>{`${p.op.name}\n${p.op.shapes}\n${scaled(p.rate, 'FLOP/s')}, ${scaled(p.rate / p.intensity, 'B/s')}\n${percent(p.op.share)} of GPU time`}</title>
        </circle>
      ))}
    </svg>
  );
}
