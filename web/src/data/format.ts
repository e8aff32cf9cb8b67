// Numbers as the other reports write them: a space before the unit, thousands separated.

export function time(ns: number): string {
  const size = Math.abs(ns);
  if (size >= 1e9) return `${(ns / 1e9).toFixed(3)} s`;
  if (size >= 1e6) return `${(ns / 1e6).toFixed(2)} ms`;
  if (size >= 1e3) return `${(ns / 1e3).toFixed(1)} µs`;
  return `${Math.round(ns)} ns`;
}
export const millis = (ms: number): string => time(ms * 1e6);
export const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
export const count = (n: number): string => Math.round(n).toLocaleString('en-US');

const steps: [number, string][] = [
  [1e15, 'P'],
  [1e12, 'T'],
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
];
export function scaled(value: number, unit: string): string {
  for (const [step, letter] of steps) if (Math.abs(value) >= step) return `${(value / step).toPrecision(3)} ${letter}${unit}`;
  return `${Number(value.toPrecision(3))} ${unit}`;
}

export function number(value: number): string {
  if (Number.isInteger(value)) return Math.abs(value) < 1e15 ? value.toLocaleString('en-US') : String(value);
  return Math.abs(value) >= 1000 ? value.toLocaleString('en-US', { maximumFractionDigits: 1 }) : String(Number(value.toPrecision(5)));
}

// "elementwise_kernel" of "void at::native::elementwise_kernel<…>(…)": template arguments hide a name.
export function shortName(name: string): string {
  if (name.length < 60 && !name.includes('<')) return name;
  let depth = 0;
  let out = '';
  for (const c of name.replace(/^void /, '').replace(/\(anonymous namespace\)::/g, '')) {
    if (c === '<') depth++;
    else if (c === '>') depth = Math.max(0, depth - 1);
    else if (c === '(' && depth === 0 && out !== '') break;
    else if (depth === 0) out += c;
  }
  const parts = out.trim().split('::');
  return parts[parts.length - 1] || name;
}
