// The waterfall of an ablation: from the baseline to the best variant, what each step changed.

import type { Ladder as LadderFacts } from '../data/facts';
import { time } from '../data/format';

const colours = { whole: '#737373', better: '#009e73', worse: '#d55e00', not_kept: '#bdbdbd', result: '#0072b2', floor: '#e69f00' };
const words = { whole: 'baseline', better: 'faster', worse: 'slower', not_kept: 'not kept', result: 'best variant', floor: 'floor' };

export function Ladder({ ladder }: { ladder: LadderFacts }) {
  const most = Math.max(...ladder.steps.map((s) => s.to_s));
  const least = Math.min(...ladder.steps.map((s) => (s.from_s > 0 ? s.from_s : s.to_s)));
  // Of a long ladder the last steps would be lines.
  const isLog = most > 10 * least && least > 0;
  const place = (s: number) => (s <= 0 ? 0 : isLog ? Math.log((2 * s) / least) / Math.log((2 * most) / least) : s / most);
  return (
    <section aria-label="Waterfall">
      <h3>
        From the baseline to the best{ladder.title && `: ${ladder.title}`}
        {isLog && ' (logarithmic)'}
      </h3>
      <div class="scroll" tabIndex={0} role="region" aria-label="Waterfall">
      <table class="ladder" aria-label="Waterfall of the time">
        <thead>
          <tr>
            <th scope="col">step</th>
            <th scope="col" aria-hidden="true" />
            <th scope="col" class="number">
              change or time
            </th>
            <th scope="col" class="number">
              then
            </th>
            <th scope="col">what it is</th>
          </tr>
        </thead>
        <tbody>
          {ladder.steps.map((s, i) => {
            const after = s.kind === 'better' || (s.kind === 'not_kept' && s.words.startsWith('−')) ? s.from_s : s.to_s;
            return (
              <tr key={i}>
                <th scope="row">{s.name}</th>
                <td aria-hidden="true">
                  <div
                    class="step"
                    style={{ marginLeft: `${100 * place(s.from_s)}%`, width: `${Math.max(0.4, 100 * (place(s.to_s) - place(s.from_s)))}%`, background: colours[s.kind] }}
                    title={`${s.name}: ${s.words}`}
                  />
                </td>
                <td class="number">{s.words}</td>
                <td class="number">{time(after * 1e9)}</td>
                <td>{words[s.kind]}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      </div>
    </section>
  );
}
