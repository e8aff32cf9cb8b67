// Numbers as the other reports write them: a space before the unit, thousands separated.

export function time(ns: number): string {
  const size = Math.abs(ns);
  if (size >= 1e9) return `${(ns / 1e9).toFixed(3)} s`;
  if (size >= 1e6) return `${(ns / 1e6).toFixed(2)} ms`;
  if (size >= 1e3) return `${(ns / 1e3).toFixed(1)} µs`;
  return `${Math.round(ns)} ns`;
}
// A point of time, so that points as far apart as `step` read differently.
export function moment(ns: number, step: number, longest: number): string {
  const [unit, name] = longest >= 1e9 ? [1e9, 's'] : longest >= 1e6 ? [1e6, 'ms'] : longest >= 1e3 ? [1e3, 'µs'] : [1, 'ns'];
  const decimals = Math.min(Math.round(Math.log10(unit)), Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9)));
  return `${(ns / unit).toFixed(decimals)} ${name}`;
}
// As much of a text as there is room for, in the font that is set.
export function fitted(context: CanvasRenderingContext2D, text: string, room: number): string {
  if (context.measureText(text).width <= room) return text;
  let low = 0;
  let high = Math.min(text.length, 200);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(text.slice(0, middle) + '…').width <= room) low = middle;
    else high = middle - 1;
  }
  return low > 0 ? text.slice(0, low) + '…' : '';
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

// Of messages and buffers, whose sizes are powers of two.
export function binaryBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let n = 0;
  for (; bytes >= 1024 && n + 1 < units.length; n++) bytes /= 1024;
  return `${n === 0 ? Math.round(bytes) : bytes.toPrecision(3)} ${units[n]}`;
}

export function number(value: number): string {
  if (Number.isInteger(value)) return Math.abs(value) < 1e15 ? value.toLocaleString('en-US') : String(value);
  return Math.abs(value) >= 1000 ? value.toLocaleString('en-US', { maximumFractionDigits: 1 }) : String(Number(value.toPrecision(5)));
}

// "elementwise_kernel" of "void at::native::elementwise_kernel<…>(…)": template arguments hide a name.
export function shortName(name: string): string {
  if (name.length < 60 && !name.includes('<')) return name;
  if (/\.\w+\(\d+\): /.test(name)) return name; // "record.py(189): <module>"
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
