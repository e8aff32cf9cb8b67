// Reads the Markdown that our reports are written in, into values. Nothing of it is ever HTML: whatever is not
// understood stays text.

export type Inline =
  | { kind: 'text' | 'code'; text: string }
  | { kind: 'strong' | 'em'; inner: Inline[] }
  | { kind: 'link'; to: string; inner: Inline[] }
  | { kind: 'image'; to: string; text: string };

export type Block =
  | { kind: 'heading'; level: number; inner: Inline[]; id: string }
  | { kind: 'paragraph'; inner: Inline[] }
  | { kind: 'list'; ordered: boolean; items: Block[][] }
  | { kind: 'table'; head: Inline[][]; right: boolean[]; rows: Inline[][][] }
  | { kind: 'code'; language: string; text: string }
  | { kind: 'quote'; inner: Block[] }
  | { kind: 'rule' };

const deepest = 12; // of lists in lists, marks in marks

export function plain(inner: Inline[]): string {
  return inner.map((part) => ('inner' in part ? plain(part.inner) : part.text)).join('');
}

function closing(text: string, at: number, open: string, close: string): number {
  let depth = 0;
  for (let i = at; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === open) depth++;
    else if (text[i] === close && --depth === 0) return i;
  }
  return -1;
}

function readInline(text: string, depth = 0): Inline[] {
  const out: Inline[] = [];
  let plainText = '';
  const flush = () => {
    if (plainText !== '') out.push({ kind: 'text', text: plainText });
    plainText = '';
  };
  for (let i = 0; i < text.length; ) {
    const c = text[i];
    if (c === '\\' && i + 1 < text.length && /[!-/:-@[-`{-~]/.test(text[i + 1])) {
      plainText += text[i + 1];
      i += 2;
      continue;
    }
    if (c === '`') {
      const fence = /^`+/.exec(text.slice(i, i + 200))![0];
      const rest = text.indexOf(fence, i + fence.length);
      if (rest > 0 && text[rest + fence.length] !== '`') {
        flush();
        let code = text.slice(i + fence.length, rest);
        if (/^ .*[^ ].* $/.test(code) || /^ `|` $/.test(code)) code = code.slice(1, -1);
        out.push({ kind: 'code', text: code });
        i = rest + fence.length;
        continue;
      }
      plainText += fence;
      i += fence.length;
      continue;
    }
    const isImage = c === '!' && text[i + 1] === '[';
    if ((c === '[' || isImage) && depth < deepest) {
      const begin = isImage ? i + 1 : i;
      const end = closing(text, begin, '[', ']');
      const close = end > 0 && text[end + 1] === '(' ? closing(text, end + 1, '(', ')') : -1;
      if (close > 0) {
        flush();
        const to = text.slice(end + 2, close).trim().replace(/^<|>$/g, '');
        const words = text.slice(begin + 1, end);
        out.push(isImage ? { kind: 'image', to, text: words } : { kind: 'link', to, inner: readInline(words, depth + 1) });
        i = close + 1;
        continue;
      }
    }
    if ((text.startsWith('**', i) || (c === '*' && text[i + 1] !== ' ')) && depth < deepest) {
      const mark = text.startsWith('**', i) ? '**' : '*';
      const end = text.indexOf(mark, i + mark.length + 1);
      if (end > 0) {
        flush();
        out.push({ kind: mark === '**' ? 'strong' : 'em', inner: readInline(text.slice(i + mark.length, end), depth + 1) });
        i = end + mark.length;
        continue;
      }
    }
    if (c === '&') {
      const entity = /^&(lt|gt|amp|quot|#\d{1,6}|#x[0-9a-f]{1,6});/i.exec(text.slice(i, i + 12));
      if (entity) {
        const known: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"' };
        const name = entity[1].toLowerCase();
        const code = name.startsWith('#x') ? parseInt(name.slice(2), 16) : Number(name.slice(1));
        plainText += known[name] ?? (code > 31 && code < 0x110000 ? String.fromCodePoint(code) : '\ufffd');
        i += entity[0].length;
        continue;
      }
    }
    plainText += c;
    i++;
  }
  flush();
  return out;
}

// At | that are neither escaped nor, escaped or not, in a code span.
function cells(line: string): string[] {
  const out: string[] = [];
  let cell = '';
  const text = line.trim().replace(/^\|/, '').replace(/\|$/, '');
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\' && text[i + 1] === '|') {
      cell += '|';
      i++;
    } else if (text[i] === '|') {
      out.push(cell.trim());
      cell = '';
    } else {
      cell += text[i];
    }
  }
  out.push(cell.trim());
  return out;
}

const item = /^(\s*)([-*]|\d+[.)])\s+(.*)$/;
const isTableRule = (line: string | undefined) => line !== undefined && /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/.test(line) && line.includes('-');

export function readMarkdown(text: string): Block[] {
  const used = new Map<string, number>();
  const idOf = (heading: string) => {
    // As GitHub makes them, and report/report_page.h with it.
    const base = heading.toLowerCase().replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '').replace(/ /g, '-');
    const count = used.get(base) ?? 0;
    used.set(base, count + 1);
    return count === 0 ? base : `${base}-${count}`;
  };
  return readBlocks(text.split('\n'), idOf, 0);
}

function readBlocks(lines: string[], idOf: (heading: string) => string, depth: number): Block[] {
  const out: Block[] = [];
  for (let i = 0; i < lines.length; ) {
    const line = lines[i];
    const fence = /^\s*(`{3,}|~{3,})\s*([^`\s]*)/.exec(line);
    if (fence) {
      const code: string[] = [];
      for (i++; i < lines.length && !lines[i].trim().startsWith(fence[1]); i++) code.push(lines[i]);
      i++;
      out.push({ kind: 'code', language: fence[2], text: code.join('\n') });
      continue;
    }
    const heading = /^(#{1,6})\s+(.*?)\s*#*$/.exec(line);
    if (heading) {
      const inner = readInline(heading[2]);
      out.push({ kind: 'heading', level: heading[1].length, inner, id: idOf(plain(inner)) });
      i++;
      continue;
    }
    if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) {
      out.push({ kind: 'rule' });
      i++;
      continue;
    }
    if (line.includes('|') && isTableRule(lines[i + 1])) {
      const head = cells(line).map((cell) => readInline(cell));
      const right = cells(lines[i + 1]).map((cell) => cell.endsWith(':') && !cell.startsWith(':'));
      const rows: Inline[][][] = [];
      for (i += 2; i < lines.length && lines[i].includes('|') && lines[i].trim() !== ''; i++) rows.push(cells(lines[i]).map((cell) => readInline(cell)));
      out.push({ kind: 'table', head, right, rows });
      continue;
    }
    if (/^\s*>/.test(line) && depth < deepest) {
      const quoted: string[] = [];
      for (; i < lines.length && /^\s*>/.test(lines[i]); i++) quoted.push(lines[i].replace(/^\s*> ?/, ''));
      out.push({ kind: 'quote', inner: readBlocks(quoted, idOf, depth + 1) });
      continue;
    }
    const first = item.exec(line);
    if (first && depth < deepest) {
      const indent = first[1].length;
      const ordered = /\d/.test(first[2]);
      const items: Block[][] = [];
      while (i < lines.length) {
        const at = item.exec(lines[i]);
        if (!at || at[1].length !== indent || /\d/.test(at[2]) !== ordered) break;
        const inner = [at[3]];
        const own = indent + at[2].length + 1;
        for (i++; i < lines.length && (lines[i].trim() === '' ? lines[i + 1]?.startsWith(' '.repeat(own)) : /^\s/.test(lines[i]) && lines[i].search(/\S/) > indent); i++)
          inner.push(lines[i].slice(Math.min(own, Math.max(0, lines[i].search(/\S/)))));
        items.push(readBlocks(inner, idOf, depth + 1));
      }
      out.push({ kind: 'list', ordered, items });
      continue;
    }
    if (line.trim() === '') {
      i++;
      continue;
    }
    // Two spaces at the end of a line break it.
    const shown = (text: string) => text.trim() + (/\s{2}$|\\$/.test(text) ? '\n' : ' ');
    let paragraph = shown(line);
    for (i++; i < lines.length && lines[i].trim() !== '' && !/^\s*([-*]|\d+[.)])\s|^#{1,6}\s|^\s*(`{3,}|~{3,}|>)/.test(lines[i]) && !isTableRule(lines[i + 1]); i++)
      paragraph += shown(lines[i]);
    out.push({ kind: 'paragraph', inner: readInline(paragraph.trim()) });
  }
  return out;
}
