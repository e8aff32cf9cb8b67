// The kernels that a scan found: a table, and of the chosen one its source, launches and the path to it.

import { useMemo, useState } from 'preact/hooks';
import type { Facts, ScannedKernel } from '../data/facts';
import { count } from '../data/format';
import { DataTable, tableOf } from './table';

export function Kernels({ facts, full }: { facts: Facts; full?: boolean }) {
  const kernels = facts.kernels!;
  const [chosen, setChosen] = useState(0);
  const table = useMemo(
    () =>
      tableOf(
        'kernels',
        [['kernel'], ['where'], ['kind'], ['lines'], ['launch sites'], ['techniques'], ['scope']],
        kernels.map((k) => [k.name, `${k.file}:${k.line}`, k.kind, k.lines, k.launches.length, [...(k.dead ? ['dead'] : []), ...k.techniques].join(', '), k.scope]),
      ),
    [facts],
  );
  const left = facts.kernels_left_out ?? 0;
  return (
    <section aria-label="Kernels">
      <h2>{count(kernels.length + left)} kernels</h2>
      <p class="sub">
        From static analysis; nothing was run. Choose a row for the source.
        {left > 0 && ` The first ${count(kernels.length)} by rank are listed; scan.json has all.`}
      </p>
      <DataTable table={table} label="Kernels" hidden={['scope']} onRow={setChosen} rowAction="Show its source" full={full} />
      {!full && <Source kernel={kernels[chosen] ?? kernels[0]} />}
    </section>
  );
}

function Source({ kernel: k }: { kernel: ScannedKernel }) {
  const lines = k.excerpt === '' ? [] : k.excerpt.split('\n');
  return (
    <aside class="details" aria-label="Chosen kernel" aria-live="polite">
      <h3>{k.scope ? `${k.scope}::${k.name}` : k.name}</h3>
      <dl>
        <dt>Source</dt>
        <dd>
          <code>
            {k.file}:{k.line}
          </code>
        </dd>
        {k.launches.length > 0 && (
          <>
            <dt>Launched</dt>
            <dd>
              {k.launches.map((text) => (
                <div key={text}>{text}</div>
              ))}
            </dd>
          </>
        )}
        {k.launches.length === 0 && (
          <>
            <dt>Launched</dt>
            <dd>{k.dead ? 'nowhere: nothing in the repository launches or names it' : 'no launch site found'}</dd>
          </>
        )}
        {k.path.length > 0 && (
          <>
            <dt>Path</dt>
            <dd>
              <ol class="stack">
                {k.path.map((hop, i) => (
                  <li key={i}>{hop}</li>
                ))}
              </ol>
            </dd>
          </>
        )}
      </dl>
      {lines.length === 0 ? (
        <p class="sub">The source could not be read.</p>
      ) : (
        <pre class="source" tabIndex={0} aria-label="Source excerpt">
          {lines.map((line, i) => (
            <div key={i}>
              <span class="line" aria-hidden="true">
                {k.line + i}
              </span>
              {line + '\n'}
            </div>
          ))}
          {k.lines > lines.length && <div class="sub">… {count(k.lines - lines.length)} further lines</div>}
        </pre>
      )}
    </aside>
  );
}
