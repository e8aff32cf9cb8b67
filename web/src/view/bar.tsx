// One bar of parts with its numbers beside it: the numbers are the picture's table.

import { inkOn } from '../data/categories';
import { millis, percent } from '../data/format';

export interface BarPart {
  key: string;
  label: string;
  colour: string;
  value: number; // ms
}

export function Bar({ parts, total, label, scale = 1 }: { parts: BarPart[]; total: number; label: string; scale?: number }) {
  return (
    <figure class="bar">
      <div class="whole" aria-hidden="true" style={{ width: `${100 * scale}%` }}>
        {parts.map((part) => (
          <span
            key={part.key}
            style={{ width: `${(100 * part.value) / total}%`, background: part.colour, color: inkOn(part.colour) }}
            title={`${part.label}: ${millis(part.value)}, ${percent(part.value / total)}`}
          >
            {part.value / total > 0.08 ? part.label : ''}
          </span>
        ))}
      </div>
      <table class="legend" aria-label={label}>
        <thead>
          <tr>
            <th scope="col">cause</th>
            <th scope="col">time</th>
            <th scope="col">share</th>
          </tr>
        </thead>
        <tbody>
          {parts.map((part) => (
            <tr key={part.key} data-part={part.key} data-ms={part.value}>
              <th scope="row">
                <span class="swatch" style={{ background: part.colour }} />
                {part.label}
              </th>
              <td class="number">{millis(part.value)}</td>
              <td class="number">{percent(part.value / total)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}
