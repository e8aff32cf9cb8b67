// What is known of the selected event.

import { useLayoutEffect, useState } from 'preact/hooks';
import type { CountedKernel, Facts } from '../data/facts';
import { count, millis, moment, percent, scaled, shortName, time } from '../data/format';
import { store } from '../store';
import type { EventAt, Timeline } from '../timeline/model';

interface Properties {
  facts: Facts;
  timeline: Timeline;
  event: EventAt;
  onSelect: (event: EventAt) => void;
}

// "model.py(69): forward": a frame of the program, not of a library.
function isOwnFrame(name: string): boolean {
  return /\.py\(\d+\): /.test(name) && !/(site-packages|dist-packages|\/torch\/|^torch\/|<built-in|lib\/python)/.test(name);
}

export function Details({ facts, timeline, event, onSelect }: Properties) {
  const [stack, setStack] = useState<EventAt[]>([]);
  const [partner, setPartner] = useState<EventAt | null>(null);
  useLayoutEffect(() => {
    let current = true;
    setStack([]);
    setPartner(null);
    void timeline.around(event).then((found) => current && setStack(found));
    void timeline.linked(event).then((found) => current && setPartner(found));
    return () => {
      current = false;
    };
  }, [event.number]);

  const { chunk, index, track } = event;
  const name = timeline.text(chunk.name[index]);
  const short = shortName(name);
  const isWork = track.kind === 'stream';
  const op = chunk.op[index] > 0 ? facts.ops?.[chunk.op[index] - 1] : undefined;
  const counted = isWork ? countedKernel(facts, name, chunk.info[index] > 0 ? timeline.text(chunk.info[index] - 1) : '') : undefined;
  const names = stack.map((e) => timeline.text(e.chunk.name[e.index]));
  const source = names.find(isOwnFrame) ?? (isOwnFrame(name) ? name : undefined) ?? counted?.source ?? op?.sources.find((s) => s !== '');
  const findings = (facts.findings ?? [])
    .map((finding, i) => ({ finding, i }))
    .filter(({ finding }) => finding.covered.includes(event.number) || stack.some((e) => finding.covered.includes(e.number)));
  const what = { stream: partner ? 'Launched by' : '', idle: 'Waited for', path: 'Event', thread: 'Launches', python: '' }[track.kind as string] ?? '';

  return (
    <aside class="details" aria-label="Selected event">
      <h3>{short}</h3>
      <dl>
        <dt>Track</dt>
        <dd>
          {track.group}, {track.name}
        </dd>
        <dt>Start</dt>
        <dd>{moment(chunk.start[index], 1, timeline.length)}</dd>
        <dt>Duration</dt>
        <dd>{time(chunk.end[index] - chunk.start[index])}</dd>
        <dt>Kind</dt>
        <dd>{timeline.categories[chunk.category[index]]?.label}</dd>
        {chunk.info[index] > 0 && timeline.text(chunk.info[index] - 1) !== '' && (
          <>
            <dt>{isWork ? 'Launch' : track.kind === 'idle' || track.kind === 'path' ? 'During' : 'Shapes'}</dt>
            <dd>{timeline.text(chunk.info[index] - 1)}</dd>
          </>
        )}
        {chunk.uid[index] > 0 && (
          <>
            <dt>UID</dt>
            <dd>{chunk.uid[index] - 1}</dd>
          </>
        )}
        {partner && what && (
          <>
            <dt>{what}</dt>
            <dd>
              <button type="button" class="link" onClick={() => onSelect(partner)}>
                {timeline.text(partner.chunk.name[partner.index])}
              </button>{' '}
              {isWork && launchText(event, partner)}
            </dd>
          </>
        )}
        {source && (
          <>
            <dt>Source</dt>
            <dd>
              <code>{source}</code>
            </dd>
          </>
        )}
        {op && (
          <>
            <dt>Op</dt>
            <dd>
              {op.name} {op.shapes && `(${op.shapes})`}: {count(op.calls)} calls, {millis(op.time_ms)}, {percent(op.share)} of the ops' GPU time
            </dd>
            <dt>Cost</dt>
            <dd>
              {op.flops === undefined
                ? 'unknown: no cost model for this call'
                : `${scaled(op.flops, 'FLOP')}, ${scaled(op.bytes ?? 0, 'B')} a call (estimated by a cost model)` +
                  (op.efficiency !== null ? `; ${percent(op.efficiency)} of the ${op.bound} limit` : op.no_limit ? `; ${op.no_limit}` : '')}
            </dd>
          </>
        )}
        {counted && (
          <>
            <dt>Counters</dt>
            <dd>{countersText(counted)}</dd>
          </>
        )}
        {findings.length > 0 && (
          <>
            <dt>Finding</dt>
            <dd>
              {findings.slice(0, 4).map(({ finding, i }) => (
                <button type="button" class="link" key={i} onClick={() => store.set({ finding: i })}>
                  {finding.title}
                </button>
              ))}
            </dd>
          </>
        )}
      </dl>
      {stack.length > 0 && (
        <details open={stack.length < 12}>
          <summary>Called from ({stack.length})</summary>
          <ol class="stack">
            {stack.map((e, i) => (
              <li key={e.number}>
                <button type="button" class="link" onClick={() => onSelect(e)}>
                  {names[i]}
                </button>
              </li>
            ))}
          </ol>
        </details>
      )}
      {short !== name && (
        <details>
          <summary>Full name</summary>
          <p class="wholename">{name}</p>
        </details>
      )}
    </aside>
  );
}

// The counters of a kernel's launches of this grid and block.
function countedKernel(facts: Facts, name: string, launch: string): CountedKernel | undefined {
  const has = (what: string, size: string) => size === '' || launch.includes(`${what} ${size}`);
  return facts.hardware?.kernels.find((k) => k.trusted && k.name === name && has('grid', k.grid) && has('block', k.block));
}

function countersText(k: CountedKernel): string {
  const share = (what: string, value: number | undefined) => (value === undefined ? [] : [`${what} ${value.toFixed(1)} %`]);
  const parts = [
    ...share('SM', k.sm_throughput),
    ...share('tensor pipe', k.tensor),
    ...share('DRAM', k.dram_throughput),
    ...(k.dram_rate === undefined ? [] : [scaled(k.dram_rate * 1e9, 'B/s')]),
    ...share('occupancy', k.occupancy),
  ];
  const stalls = k.stalls.slice(0, 3).map(([reason, value]) => `${reason.replace(/_/g, ' ')} ${value.toFixed(0)} %`);
  if (stalls.length > 0) parts.push(`stalls: ${stalls.join(', ')}`);
  return `${parts.join(' · ')} (measured, ${k.join}, mean of ${count(k.count)} ${k.count === 1 ? 'launch' : 'launches'})`;
}

function launchText(kernel: EventAt, launch: EventAt): string {
  const delay = kernel.chunk.start[kernel.index] - launch.chunk.end[launch.index];
  return delay >= 0 ? `${time(delay)} before it began` : 'still running when it began';
}
