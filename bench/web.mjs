// How smooth the page of a report is for traces of many events. Prints rows of a Markdown table.
//   node bench/web.mjs FATHOM CHROMIUM EVENTS|TRACE|REPORT...        for example 1000000
// A number is a trace that is made here; a report directory is opened as it is. CPU times are those of the browser's
// process for the page: on a machine that others use too, they say more than times on the clock.
import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const [fathom, chrome, ...inputs] = process.argv.slice(2);
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const { chromium } = await import(pathToFileURL(join(root, 'web/node_modules/playwright-core/index.mjs')).href);
const place = mkdtempSync(join(tmpdir(), 'fathom-bench-'));

// Steps of layers: Python frames, ops, launches and kernels on two streams, of changing lengths.
function write(path, events) {
  const file = openSync(path, 'w');
  writeSync(file, '{"deviceProperties":[{"id":0,"name":"NVIDIA H200","numSms":132,"totalGlobalMem":150000000000}],"traceEvents":[\n');
  let lines = [];
  let made = 0;
  let random = 1;
  const next = (n) => (random = (random * 1103515245 + 12345) % 2147483648) % n;
  const add = (line) => {
    lines.push(line);
    made++;
    if (lines.length === 20000) {
      writeSync(file, (made > 20000 ? ',\n' : '') + lines.join(',\n'));
      lines = [];
    }
  };
  for (let i = 0, ts = 1000; made + 6 < events; i++) {
    const op = next(60);
    const long = 12 + next(30);
    add(`{"ph":"X","cat":"python_function","name":"model.py(${op}): layer","pid":1,"tid":1,"ts":${ts},"dur":${long},"args":{"Python id":${i}}}`);
    add(`{"ph":"X","cat":"cpu_op","name":"aten::op${op}","pid":1,"tid":1,"ts":${ts + 1},"dur":${long - 2},"args":{"Input Dims":[[${64 * (op + 1)},1024]],"Input type":["float"]}}`);
    add(`{"ph":"X","cat":"cpu_op","name":"aten::inner${op % 9}","pid":1,"tid":1,"ts":${ts + 2},"dur":${long - 4}}`);
    add(`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":${ts + 3},"dur":4,"args":{"correlation":${i + 1}}}`);
    add(`{"ph":"X","cat":"kernel","name":"kernel_${op}","pid":0,"tid":${7 + (i % 2)},"ts":${ts + 8},"dur":${1 + next(long)},"args":{"correlation":${i + 1},"device":0,"stream":${7 + (i % 2)},"grid":[${op + 1},1,1],"block":[256,1,1]}}`);
    ts += long + next(4);
  }
  if (lines.length > 0) writeSync(file, (made > lines.length ? ',\n' : '') + lines.join(',\n'));
  writeSync(file, '\n]}\n');
  closeSync(file);
}

// CPU time of all pages' processes so far, in ms.
async function cpu(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  return 1000 * processInfo.filter((p) => p.type === 'renderer').reduce((sum, p) => sum + p.cpuTime, 0);
}

// Zooms in from the whole to some microseconds at three places, moving on the way.
async function zoomIn() {
  const t = window.fathomTimeline;
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  const whole = t.end - t.begin;
  t.frames.length = 0;
  const all = [];
  const steps = new Map(); // by zoom step: the least time of the three places
  let most = 0;
  for (const at of [0.2, 0.5, 0.8]) {
    t.showAll();
    await frame();
    for (let zoom = 0; zoom < 40; zoom++) {
      t.zoom(0.75, whole * at);
      if (zoom % 3 === 0) t.pan(0.1);
      await frame();
      const frames = t.frames.splice(0);
      all.push(...frames);
      most = Math.max(most, t.drawn);
      steps.set(zoom, Math.min(steps.get(zoom) ?? Infinity, ...frames));
    }
  }
  const sorted = (list) => [...list].sort((x, y) => x - y);
  const of = (list, share) => sorted(list)[Math.min(list.length - 1, Math.floor(list.length * share))];
  return { p50: of(all, 0.5), p95: of(all, 0.95), slowest: Math.max(...steps.values()), most, frames: all.length };
}

// From the choice of an event to its details on the screen, the median of nine: what a reader waits for.
async function selectTimes() {
  const t = window.fathomTimeline;
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const until = async (holds) => {
    for (let i = 0; i < 600 && !holds(); i++) await frame();
  };
  const row = t.places.find((p) => p.track.kind === 'stream').track.rows[0];
  const times = [];
  for (let i = 0; i < 9; i++) {
    const place = row.places[Math.floor((i / 9) * row.places.length)];
    await row.load(place);
    const number = place.chunk.first + Math.floor((place.chunk.size * (i + 1)) / 11);
    const shown = () => document.querySelector('.details')?.textContent ?? '';
    const old = shown();
    const before = performance.now();
    location.hash = `#timeline?e=${number}`;
    await until(() => shown() !== old);
    await frame();
    times.push(performance.now() - before);
  }
  return times.sort((x, y) => x - y)[4];
}

// Seven starts: first contentful paint and first view, each as "least (median)".
async function startTimes(url) {
  const times = { paint: [], view: [] };
  const browser = await chromium.launch({ executablePath: chrome, args: ['--no-sandbox'] });
  for (let i = 0; i < 7; i++) {
    const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
    await page.goto(url);
    await page.waitForFunction(() => performance.getEntriesByType('paint').length > 0 && performance.getEntriesByName('fathom-first-view').length > 0, null, { timeout: 180_000 });
    const [paint, view] = await page.evaluate(() => [performance.getEntriesByType('paint')[0].startTime, performance.getEntriesByName('fathom-first-view')[0].startTime]);
    times.paint.push(paint);
    times.view.push(view);
    await page.close();
  }
  await browser.close();
  const text = (list) => `${Math.min(...list).toFixed(0)} (${[...list].sort((x, y) => x - y)[3].toFixed(0)})`;
  return { paint: text(times.paint), view: text(times.view) };
}

const run = (trace, out, more) => {
  const before = performance.now();
  execFileSync(fathom, ['analyze', trace, '--out', out, '--no-cache', '-q', '--force', ...more]);
  return ((performance.now() - before) / 1000).toFixed(1) + ' s';
};

console.log('| input | analyze, --no-html | analyze | page MB | first paint ms, least (median of 7) | first view ms | its CPU ms | timeline ms | its CPU ms | frame p50 ms | p95 | CPU ms a frame | slowest zoom step, best of three | most looked at | select an event ms |');
console.log('|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|');
try {
  for (const input of inputs) {
    let out = join(place, 'report');
    let times = ['', ''];
    if (existsSync(join(input, 'report.html'))) {
      out = input;
    } else {
      const made = /^\d+$/.test(input);
      const trace = made ? join(place, 'trace.json') : input;
      if (made) write(trace, Number(input));
      times = [run(trace, out, ['--no-html']), run(trace, out, [])];
    }
    const size = statSync(join(out, 'report.html')).size / 1e6;
    const url = pathToFileURL(join(out, 'report.html')).href;
    const starts = await startTimes(url);
    const browser = await chromium.launch({ executablePath: chrome, args: ['--no-sandbox'] });
    const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
    const idle = await cpu(browser);
    await page.goto(url);
    await page.waitForSelector('h1', { timeout: 180_000 });
    const first = (await cpu(browser)) - idle;
    await page.waitForFunction(() => performance.getEntriesByName('fathom-timeline').length > 0, null, { timeout: 180_000 });
    const timeline = (await cpu(browser)) - idle;
    const marks = await page.evaluate(() => Object.fromEntries(performance.getEntriesByType('mark').map((m) => [m.name, m.startTime])));
    await page.click('#tab-timeline');
    await page.waitForFunction(() => window.fathomTimeline?.frames.length > 0, null, { timeout: 180_000 });
    await page.waitForTimeout(8000); // what it reads beside
    const before = await cpu(browser);
    const result = await page.evaluate(zoomIn);
    const each = ((await cpu(browser)) - before) / result.frames;
    const select = await page.evaluate(selectTimes);
    const f = (x) => x.toFixed(1);
    const name = /^\d+$/.test(input) ? Number(input).toLocaleString('en-US') : basename(input);
    console.log(`| ${name} | ${times[0]} | ${times[1]} | ${f(size)} | ${starts.paint} | ${starts.view} | ${f(first)} | ${f(marks['fathom-timeline'])} | ${f(timeline)} | ${f(result.p50)} | ${f(result.p95)} | ${f(each)} | ${f(result.slowest)} | ${result.most.toLocaleString('en-US')} | ${f(select)} |`);
    await browser.close();
  }
} finally {
  rmSync(place, { recursive: true, force: true });
}
