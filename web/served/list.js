// The list of served reports, how far each is, and several of them side by side. Text from reports is only ever put in
// as text.
'use strict';

const at = (id) => document.getElementById(id);
const element = (name, text, className) => {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
};
const fileOf = (i, name) => `r/${i}/${encodeURIComponent(name)}`;

let reports = [];
const chosen = new Set();
const summaries = new Map();

const milliseconds = (ms) => (ms >= 1000 ? `${(ms / 1000).toFixed(2)} s` : ms >= 1 ? `${ms.toFixed(2)} ms` : `${(ms * 1000).toFixed(1)} µs`);

function numbersOf(summary) {
  const wall = summary.wall_time;
  if (!wall || !(wall.wall_ms > 0)) return {};
  const devices = wall.devices ?? [];
  const idle = devices.reduce((sum, d) => sum + (d.idle_ms ?? 0), 0) / Math.max(1, devices.length);
  const time = milliseconds(wall.wall_ms / Math.max(1, wall.steps)) + (wall.steps > 1 ? ' per step' : '');
  return { time, idle: devices.length > 0 ? `${((100 * idle) / wall.wall_ms).toFixed(1)} %` : '' };
}

async function summarize(i) {
  if (summaries.has(i)) return;
  summaries.set(i, {});
  try {
    const answer = await fetch(fileOf(i, 'summary.json'));
    if (answer.ok) summaries.set(i, await answer.json());
  } catch {
    // Reports without a summary, such as those of a scan, have their name only.
  }
  show();
}

function stateCell(report, cell) {
  if (report.state === 'failed') {
    cell.append(element('span', report.message ?? 'failed', 'failed'));
    return;
  }
  const bar = element('progress');
  if (report.fraction !== undefined) bar.value = report.fraction;
  if (report.state === 'waiting') bar.value = 0;
  const words = { waiting: 'waiting for the trace before it', reading: 'reading the trace', analyzing: 'analyzing' }[report.state];
  const part = report.fraction !== undefined ? `, ${Math.round(100 * report.fraction)} %` : '';
  bar.setAttribute('aria-label', `${report.name}: ${words}`);
  cell.append(bar, `${words}${part}`);
}

function row(report, i) {
  const line = element('tr');
  const ready = report.state === 'ready';
  const box = element('input');
  box.type = 'checkbox';
  box.checked = chosen.has(i);
  box.disabled = !ready;
  box.setAttribute('aria-label', `Choose ${report.name}`);
  box.addEventListener('change', () => {
    if (box.checked) chosen.add(i);
    else chosen.delete(i);
    at('compare').disabled = chosen.size < 2 || chosen.size > 4;
  });
  const choice = element('td');
  choice.append(box);
  const name = element('td');
  if (ready) {
    const link = element('a', report.name, 'report');
    link.href = fileOf(i, 'report.html');
    name.append(link);
  } else {
    name.append(element('span', report.name));
  }
  name.append(element('small', report.directory));
  line.append(choice, name);
  if (!ready) {
    const cell = element('td');
    cell.colSpan = 4;
    stateCell(report, cell);
    line.append(cell);
    return line;
  }
  if (report.files.length > 1) {
    const files = element('details');
    files.append(element('summary', `${report.files.length} files`));
    const list = element('ul');
    for (const file of report.files) {
      const link = element('a', file);
      link.href = fileOf(i, file);
      const item = element('li');
      item.append(link);
      list.append(item);
    }
    files.append(list);
    name.append(files);
  }
  const summary = summaries.get(i) ?? {};
  const { time, idle } = numbersOf(summary);
  line.append(element('td', summary.gpu ?? ''), element('td', time ?? '', 'number'), element('td', idle ?? '', 'number'));
  line.append(element('td', summary.findings?.[0]?.title ?? ''));
  return line;
}

function show() {
  const making = reports.filter((r) => !['ready', 'failed'].includes(r.state)).length;
  const count = reports.length === 1 ? '1 report' : `${reports.length} reports`;
  at('status').textContent = making > 0 ? `${count}, ${making} being made` : count;
  at('list').hidden = panes.length > 0;
  at('choose').hidden = reports.length < 2;
  const focused = document.activeElement?.getAttribute('aria-label');
  const open = [...document.querySelectorAll('#rows details')].map((d) => d.open);
  at('rows').replaceChildren(...reports.map(row));
  [...document.querySelectorAll('#rows details')].forEach((d, i) => (d.open = open[i] ?? false));
  if (focused) [...document.querySelectorAll('#rows [aria-label]')].find((e) => e.getAttribute('aria-label') === focused)?.focus();
}

let panes = [];
function showPanes() {
  panes = (location.hash.match(/^#side-by-side=([\d,]+)$/)?.[1] ?? '').split(',').filter(Boolean).map(Number);
  panes = panes.filter((i) => reports[i]?.state === 'ready').slice(0, 4);
  at('panes').hidden = panes.length === 0;
  at('nav').hidden = panes.length === 0;
  document.querySelector('main').classList.toggle('wide', panes.length > 0);
  at('panes').replaceChildren(
    ...panes.map((i) => {
      const section = element('section');
      const frame = element('iframe');
      frame.title = reports[i].name;
      frame.src = fileOf(i, 'report.html');
      section.append(element('h2', reports[i].name), frame);
      return section;
    }),
  );
  show();
}

at('compare').addEventListener('click', () => (location.hash = `#side-by-side=${[...chosen].sort((a, b) => a - b).join(',')}`));
at('back').addEventListener('click', () => (location.hash = ''));
addEventListener('hashchange', showPanes);

function update(next) {
  reports = next.reports;
  reports.forEach((r, i) => r.state === 'ready' && r.files.includes('summary.json') && summarize(i));
  // The only report is what somebody wants to see; #list stays here.
  if (reports.length === 1 && reports[0].state === 'ready' && location.hash !== '#list') {
    location.replace(fileOf(0, 'report.html'));
    return;
  }
  if (panes.length === 0 && location.hash) showPanes();
  else show();
}

const events = new EventSource('events');
events.onmessage = (message) => update(JSON.parse(message.data));
events.onerror = () => (at('status').textContent = 'The server does not answer; it may have been stopped.');
