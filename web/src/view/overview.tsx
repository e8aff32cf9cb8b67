// The first view: where the wall time of a step goes, and what to do about it.

import { category } from '../data/categories';
import type { Facts, Finding, Summary } from '../data/facts';
import { count, millis, percent } from '../data/format';
import { store } from '../store';
import { Bar, type BarPart } from './bar';

function wallParts(summary: Summary): BarPart[] {
  const wall = summary.wall_time;
  const devices = wall.devices.filter((d) => d.busy_ms > 0);
  const mean = (pick: (d: (typeof devices)[0]) => number) => devices.reduce((sum, d) => sum + pick(d), 0) / Math.max(1, devices.length);
  const steps = Math.max(1, wall.steps);
  const parts: BarPart[] = [];
  const add = (key: string, ms: number) => {
    if (ms > 0) parts.push({ key, label: category(key).label, colour: category(key).colour, value: ms / steps });
  };
  add('computation', mean((d) => d.computation_ms));
  add('exposed_communication', mean((d) => d.exposed_communication_ms));
  add('exposed_copies', mean((d) => d.exposed_copies_ms));
  const causes = Object.entries(wall.idle_ms).sort((x, y) => y[1] - x[1]);
  for (const [cause, ms] of causes) add('idle.' + cause, ms);
  const rest = wall.wall_ms - parts.reduce((sum, part) => sum + part.value * steps, 0);
  // Means over several GPUs do not add up to the nanosecond.
  if (rest > wall.wall_ms * 1e-4) parts.push({ key: 'rest', label: 'idle, not explained', colour: '#606973', value: rest / steps });
  return parts;
}

function showFinding(facts: Facts, index: number): void {
  const finding = facts.findings![index];
  store.set({ view: 'timeline', finding: index, event: finding.covered[0] ?? null, span: null, range: null, op: null, query: '' });
}

function Recommendation({ facts, index, rank }: { facts: Facts; index: number; rank?: number }) {
  const f = facts.findings![index];
  const parts = facts.findings!.filter((other) => other.under === f.title);
  const id = `finding-${index}`;
  return (
    <article class={`finding ${f.priority}`} aria-labelledby={id}>
      <h3 id={id} tabIndex={-1}>
        {rank !== undefined && <span class="rank">{rank}</span>}
        <span class={`badge ${f.priority}`}>{f.priority}</span> {f.title}
      </h3>
      <dl>
        {f.places.length > 0 && (
          <>
            <dt>Where</dt>
            <dd>
              {f.places.map((place) => (
                <code key={place}>{place}</code>
              ))}
              {f.unplaced >= 0.005 && <span class="sub">{percent(f.unplaced)} of the time has no known place</span>}
            </dd>
          </>
        )}
        <dt>Evidence</dt>
        <dd>{f.issue}</dd>
        {f.change && (
          <>
            <dt>Change</dt>
            <dd>{f.change}</dd>
          </>
        )}
        {f.kernel_change && (
          <>
            <dt>Kernel</dt>
            <dd>{f.kernel_change}</dd>
          </>
        )}
        <dt>Saving</dt>
        <dd>
          <Saving finding={f} />
        </dd>
        {parts.length > 0 && (
          <>
            <dt>Part of it</dt>
            <dd>{parts.map((part) => part.title).join('; ')}</dd>
          </>
        )}
      </dl>
      <FindingDetails finding={f} />
      {f.covered.length > 0 && (
        <button type="button" class="show" onClick={() => showFinding(facts, index)}>
          Show in the timeline ({count(f.events)} {f.events === 1 ? 'event' : 'events'})
        </button>
      )}
    </article>
  );
}

function Saving({ finding: f }: { finding: Finding }) {
  const [least, most] = f.saving_percent;
  return (
    <span>
      {f.saving}
      <span class="saving" aria-hidden="true">
        <span style={{ width: `${Math.min(100, Math.max(0, least))}%` }} class="sure" />
        <span style={{ width: `${Math.min(100, Math.max(0, most - least))}%` }} class="maybe" />
      </span>
    </span>
  );
}

function FindingDetails({ finding: f }: { finding: Finding }) {
  return (
    <details>
      <summary>
        Details: {f.confidence} confidence, {percent(f.share)} of the wall time
      </summary>
      {f.priority_reason && (
        <p>
          Priority {f.priority}: {f.priority_reason}
        </p>
      )}
      {f.evidence.length > 0 && (
        <table class="plain">
          <thead>
            <tr>
              <th scope="col">op</th>
              <th scope="col">shapes</th>
              <th scope="col">calls</th>
              <th scope="col">GPU time</th>
              <th scope="col">of the limit</th>
            </tr>
          </thead>
          <tbody>
            {f.evidence.map((op, i) => (
              <tr key={i}>
                <td>{op.op}</td>
                <td>{op.shapes}</td>
                <td class="number">{count(op.calls)}</td>
                <td class="number">{millis(op.time_ms)}</td>
                <td class="number">{op.efficiency === null ? 'unknown' : percent(op.efficiency)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {f.notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
      {f.stack.length > 0 && <pre>{f.stack.join('\n')}</pre>}
      {f.counters && <p>To learn more: {f.counters}</p>}
    </details>
  );
}

// The recommendations in a line each, beside the numbers: the first screen has all of them.
function Glance({ facts, indices }: { facts: Facts; indices: number[] }) {
  return (
    <nav class="summary" aria-label="Recommendations">
      <ol>
        {indices.map((index) => {
          const f = facts.findings![index];
          return (
            <li key={index}>
              <button
                type="button"
                class="link"
                onClick={() => {
                  const heading = document.getElementById(`finding-${index}`);
                  heading?.scrollIntoView({ block: 'center' });
                  heading?.focus({ preventScroll: true });
                }}
              >
                {f.title}
              </button>
              <span class="sub">
                {f.saving ? `saves ${f.saving.split(', ')[0]}` : ''}
                {f.places.length > 0 && ` · ${f.places.slice(0, 2).join(', ')}`}
              </span>
            </li>
          );
        })}
      </ol>
    </nav>
  );
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export function Overview({ facts }: { facts: Facts }) {
  const summary = facts.summary;
  const findings = facts.findings ?? [];
  const first = facts.recommended ?? [];
  const others = findings.map((_, i) => i).filter((i) => !first.includes(i));
  const steps = summary?.wall_time.steps ?? 0;
  return (
    <section aria-label="Overview">
      {summary && summary.gpu_events > 0 && (
        <>
          <h2>
            {steps > 1 ? `A step takes ${millis(summary.wall_time.wall_ms / steps)}` : `The run takes ${millis(summary.wall_time.wall_ms)}`}
          </h2>
          <p class="sub">{sentence(facts.wall_text ?? '')}</p>
          <div class="glance">
            <Bar parts={wallParts(summary)} total={summary.wall_time.wall_ms / Math.max(1, steps)} label="Wall time by cause" />
            {first.length > 0 && <Glance facts={facts} indices={first} />}
          </div>
        </>
      )}
      {summary && summary.gpu_events === 0 && (
        <p>
          No GPU work was recorded. {summary.cpu && `CPU ops take ${millis(summary.cpu.self_time_ms)} in ${millis(summary.cpu.length_ms)}.`}
        </p>
      )}
      {(facts.notes ?? []).map((note) => (
        <p key={note.text} class={note.warning ? 'note warning' : 'note'}>
          {sentence(note.text)}
        </p>
      ))}
      {facts.findings && (
        <>
          <h2>{first.length > 0 ? 'What to change' : 'No recommendation'}</h2>
          {first.length === 0 && <p>No finding has more than low priority.</p>}
          {first.length > 1 && <p class="sub">Findings can cover the same time, so savings do not add up.</p>}
          {first.map((index, i) => (
            <Recommendation key={index} facts={facts} index={index} rank={i + 1} />
          ))}
        </>
      )}
      {others.length > 0 && (
        <details class="more">
          <summary>
            {others.length} further {others.length === 1 ? 'finding' : 'findings'}
          </summary>
          {others.map((index) => (
            <Recommendation key={index} facts={facts} index={index} />
          ))}
          {(facts.findings_left_out ?? 0) > 0 && <p>{count(facts.findings_left_out!)} more are in category_findings/.</p>}
        </details>
      )}
    </section>
  );
}
