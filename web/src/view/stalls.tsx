// Why warps waited: of hardware counters (shares of warp states) and of PC samples (with the lines).

import { inkOn } from '../data/categories';
import type { Facts } from '../data/facts';
import { count, millis, percent, shortName } from '../data/format';
import { DataTable, tableOf } from './table';

const colours = ['#0072b2', '#e69f00', '#009e73', '#d55e00', '#cc79a7', '#56b4e9', '#f0e442'];
const rest = '#606973';
const mostBars = 20;

interface StallBar {
  key: string;
  name: string;
  words: string;
  parts: [string, number][]; // shares
  kind: string;
}

export function hasStalls(facts: Facts): boolean {
  return (facts.hardware?.kernels ?? []).some((k) => k.stalls.length > 0) || (facts.hardware?.sampled ?? []).length > 0;
}

function barsOf(facts: Facts): { counted: StallBar[]; sampled: StallBar[] } {
  const counted = (facts.hardware?.kernels ?? [])
    .filter((k) => k.stalls.length > 0)
    .map((k, i) => ({
      key: `c${i}`,
      name: k.name,
      words: `${millis(k.time_ms)}, ${count(k.count)} runs, grid ${k.grid || 'unknown'}${k.trusted ? '' : '; of another situation: the counted runs took over twice as long'}`,
      parts: k.stalls.map(([reason, value]): [string, number] => [reason, value / 100]),
      kind: 'counters',
    }));
  const sampled = (facts.hardware?.sampled ?? [])
    .filter((k) => k.samples > 0)
    .map((k, i) => ({
      key: `s${i}`,
      name: k.name,
      words: `${k.time_ms > 0 ? `${millis(k.time_ms)}, ` : ''}${count(k.samples)} samples, ${percent(k.stalled / k.samples)} stalled`,
      parts: k.reasons.map(([reason, samples]): [string, number] => [reason, samples / k.samples]),
      kind: 'PC samples',
    }));
  return { counted: counted.slice(0, mostBars), sampled: sampled.slice(0, mostBars) };
}

// The most frequent reasons have a colour of their own, the same in all bars.
function colourOf(bars: StallBar[]): (reason: string) => string {
  const sums = new Map<string, number>();
  for (const bar of bars) for (const [reason, share] of bar.parts) sums.set(reason, (sums.get(reason) ?? 0) + share);
  const order = [...sums].sort((a, b) => b[1] - a[1]).map(([reason]) => reason);
  return (reason) => colours[order.indexOf(reason)] ?? rest;
}

function Bars({ bars, colour, label }: { bars: StallBar[]; colour: (reason: string) => string; label: string }) {
  return (
    <div class="stalls" role="group" aria-label={`${label}; the same values are in the table below`}>
      {bars.map((bar) => {
        const other = bar.parts.filter(([reason]) => colour(reason) === rest);
        const shown = bar.parts.filter(([reason]) => colour(reason) !== rest);
        const left = other.reduce((sum, [, share]) => sum + share, 0);
        return (
          <div key={bar.key} class="stall">
            <div class="name">
              <strong title={bar.name}>{shortName(bar.name)}</strong> <span class="sub">{bar.words}</span>
            </div>
            <div class="whole" aria-hidden="true">
              {[...shown, ...(left > 0 ? [['other reasons', left] as [string, number]] : [])].map(([reason, share]) => (
                <span
                  key={reason}
                  style={{ width: `${100 * Math.min(1, share)}%`, background: colour(reason), color: inkOn(colour(reason)) }}
                  title={`${reason.replace(/_/g, ' ')}: ${percent(share)}`}
                >
                  {share > 0.1 ? `${reason.replace(/_/g, ' ')} ${Math.round(100 * share)} %` : ''}
                </span>
              ))}
            </div>
          </div>
        );
      })}
    </div>
  );
}

function Legend({ bars, colour }: { bars: StallBar[]; colour: (reason: string) => string }) {
  const reasons = [...new Set(bars.flatMap((bar) => bar.parts.map(([reason]) => reason)))].filter((r) => colour(r) !== rest);
  return (
    <ul class="marks" aria-label="Colours">
      {reasons.map((reason) => (
        <li key={reason}>
          <span class="swatch" style={{ background: colour(reason) }} /> {reason.replace(/_/g, ' ')}
        </li>
      ))}
      <li>
        <span class="swatch" style={{ background: rest }} /> other reasons
      </li>
    </ul>
  );
}

function reasonTable(name: string, bars: StallBar[]) {
  return tableOf(
    name,
    [['kernel'], ['reason'], ['share', '%']],
    bars.flatMap((bar) => bar.parts.map(([reason, share]) => [bar.name, reason.replace(/_/g, ' '), Number((100 * share).toFixed(2))])),
  );
}

export function Stalls({ facts, full }: { facts: Facts; full?: boolean }) {
  const { counted, sampled } = barsOf(facts);
  const colour = colourOf([...counted, ...sampled]);
  const places = (facts.hardware?.sampled ?? []).flatMap((k) =>
    k.places.map((p) => [k.name, p.place, p.samples, k.samples > 0 ? Number(((100 * p.samples) / k.samples).toFixed(2)) : null, p.reasons.slice(0, 3).map(([r, n]) => `${r.replace(/_/g, ' ')} ${count(n)}`).join(', ')]),
  );
  return (
    <section aria-label="Stalls">
      <Legend bars={[...counted, ...sampled]} colour={colour} />
      {counted.length > 0 && (
        <>
          <h2>Warp states, counted</h2>
          <p class="sub">Measured by hardware counters: the share of each state in all warp states of a kernel, longest kernels first; the rest of a bar issued or was ready. Stalls matter where the kernel is not at a limit.</p>
          <Bars bars={counted} colour={colour} label="Stall reasons by kernel, counted" />
          <DataTable table={reasonTable('stalls', counted)} label="Counted stalls as a table" full={full} />
        </>
      )}
      {sampled.length > 0 && (
        <>
          <h2>Stall reasons, sampled</h2>
          <p class="sub">Measured by PC sampling over the whole recording: the share of a kernel's samples; the rest of a bar was not stalled.</p>
          <Bars bars={sampled} colour={colour} label="Stall reasons by kernel, sampled" />
          <h3>Lines and instructions with the most stalls</h3>
          <DataTable table={tableOf('stalled places', [['kernel'], ['line or instruction'], ['samples'], ['of the kernel', '%'], ['reasons']], places)} label="Stalled lines as a table" full={full} />
          <DataTable table={reasonTable('sampled stalls', sampled)} label="Sampled stalls as a table" full={full} />
        </>
      )}
    </section>
  );
}
