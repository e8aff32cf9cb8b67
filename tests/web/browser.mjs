// The page of reports in a real browser. Prints a line for each check; exit code 1 where one failed.
//   node browser.mjs FATHOM SOURCE_DIR CHROMIUM [PART OF A CHECK'S NAME]
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { browser, example, fathom, open, place, report, runAll, source, summaryOf } from './session.mjs';

const length = ([begin, end]) => end - begin;

const checks = {
  async 'renders without errors'() {
    for (const name of ['llama-h200', 'llama-stacks-h200', 'ddp-rank0-h200', 'train-h200']) {
      const page = await open(report(example(name)));
      const tabs = await page.locator('[role=tab]').all();
      assert.ok(tabs.length >= 7);
      for (const tab of tabs) {
        await tab.click();
        assert.equal(await tab.getAttribute('aria-selected'), 'true');
        assert.ok((await page.locator('main section').count()) > 0, await tab.textContent());
      }
      await page.done();
    }
  },

  async 'numbers are those of summary.json'() {
    for (const name of ['llama-h200', 'train-h200', 'ddp-rank0-h200']) {
      const out = report(example(name));
      const summary = summaryOf(out);
      const page = await open(out);
      const wall = summary.wall_time;
      const steps = Math.max(1, wall.steps);
      const shown = await page.$$eval('[data-part]', (rows) => Object.fromEntries(rows.map((r) => [r.dataset.part, Number(r.dataset.ms)])));
      const near = (x, y, what) => assert.ok(Math.abs(x - y) < 1e-9 * Math.max(1, Math.abs(y)), `${what}: ${x}, ${y}`);
      const mean = (key) => wall.devices.reduce((sum, d) => sum + d[key], 0) / wall.devices.length / steps;
      near(shown.computation, mean('computation_ms'), 'compute');
      for (const [cause, ms] of Object.entries(wall.idle_ms)) if (ms > 0) near(shown[`idle.${cause}`], ms / steps, cause);
      const sum = Object.values(shown).reduce((x, y) => x + y, 0);
      assert.ok(Math.abs(sum - wall.wall_ms / steps) < 1e-3 * sum, `the parts are ${sum} of ${wall.wall_ms / steps}`);
      const titles = await page.$$eval('.finding h3', (all) => all.map((h) => h.textContent));
      assert.equal(titles.length, summary.findings.length);
      const first = summary.findings.filter((f) => f.priority !== 'low' && !f.under).slice(0, 5);
      first.forEach((f, i) => assert.ok(titles[i].endsWith(f.title), `${titles[i]} is not ${f.title}`));
      await page.done();
    }
  },

  async 'zooms and moves'() {
    const page = await open(report(example('llama-h200')));
    await page.show('timeline');
    await page.focus('canvas');
    const whole = await page.view();
    await page.keyboard.press('w');
    await page.keyboard.press('w');
    const near = await page.view();
    assert.ok(length(near) < 0.6 * length(whole));
    await page.keyboard.press('d');
    assert.ok((await page.view())[0] > near[0]);
    await page.keyboard.press('a');
    await page.keyboard.press('s');
    assert.ok(length(await page.view()) > length(near));
    const box = await page.locator('canvas').boundingBox();
    await page.mouse.move(box.x + 700, box.y + 200);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -300);
    await page.keyboard.up('Control');
    await page.waitForTimeout(100);
    const wheeled = await page.view();
    assert.ok(length(wheeled) < length(whole));
    await page.mouse.down();
    await page.mouse.move(box.x + 500, box.y + 200, { steps: 4 });
    await page.mouse.up();
    const dragged = await page.view();
    assert.ok(dragged[0] > wheeled[0] && Math.abs(length(dragged) - length(wheeled)) < 2);
    await page.keyboard.press('0');
    assert.ok(length(await page.view()) >= 0.99 * length(whole));
    await page.done();
  },

  async 'searches'() {
    const trace = example('llama-h200');
    const events = JSON.parse(gunzipSync(readFileSync(trace))).traceEvents;
    const expected = events.filter((e) => e.ph === 'X' && e.name.toLowerCase().includes('aten::mm')).length;
    const page = await open(report(trace));
    await page.show('timeline');
    await page.fill('#search', 'aten::MM');
    await page.waitForFunction(() => document.querySelector('#matches')?.textContent?.match(/\d/));
    // Of the rows that are no events of the trace, the idle row names what it waited for beside it.
    const found = Number((await page.textContent('#matches')).replace(/\D/g, ''));
    assert.equal(found, expected);
    await page.click('[aria-label="Next match"]');
    await page.waitForSelector('.details h3');
    assert.match(await page.textContent('.details h3'), /aten::mm/);
    const first = page.url();
    await page.click('[aria-label="Next match"]');
    await page.waitForTimeout(400);
    assert.notEqual(page.url(), first);
    await page.done();
  },

  async 'selects an event and follows it to its launch'() {
    const page = await open(report(example('llama-stacks-h200')));
    await page.show('timeline');
    await page.fill('#search', 'nvjet');
    await page.waitForSelector('#matches');
    await page.click('[aria-label="Next match"]');
    await page.waitForSelector('.details .stack li, .details summary');
    const text = await page.textContent('.details');
    assert.match(text, /grid \d+×\d+×\d+/);
    assert.match(text, /aten::mm/);
    assert.match(text, /FLOP/);
    assert.match(text, /models\.py\(\d+\): forward/);
    await page.focus('canvas');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => /^cu|Launch/.test(document.querySelector('.details h3')?.textContent ?? ''));
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelector('.details h3')?.textContent?.includes('nvjet'));
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => !document.querySelector('.details'));
    await page.done();
  },

  async 'a click selects what is under the pointer'() {
    const page = await open(report(example('llama-h200')));
    await page.show('timeline');
    const at = await page.evaluate(async () => {
      const t = window.fathomTimeline;
      const place = t.places.find((p) => p.track.kind === 'thread');
      await place.track.rows[0].load(place.track.rows[0].places[0]);
      const chunk = place.track.rows[0].places[0].chunk;
      let longest = 0;
      for (let i = 0; i < chunk.size; i++) if (chunk.end[i] - chunk.start[i] > chunk.end[longest] - chunk.start[longest]) longest = i;
      return { x: t.x((chunk.start[longest] + chunk.end[longest]) / 2), y: place.y + 6, number: chunk.first + longest };
    });
    await page.click('canvas', { position: { x: at.x, y: at.y } });
    await page.waitForSelector('.details h3');
    await page.waitForFunction((n) => location.hash.includes(`e=${n}`), at.number);
    await page.done();
  },

  async 'sums a range'() {
    const out = report(example('llama-h200'));
    const page = await open(out);
    await page.show('timeline');
    await page.waitForTimeout(300);
    const box = await page.locator('canvas').boundingBox();
    await page.mouse.move(box.x + 172, box.y + 10);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 2, box.y + 10, { steps: 5 });
    await page.mouse.up();
    await page.waitForSelector('.range table');
    const rows = await page.$$eval('.range [aria-label="GPU work by category"] tbody tr', (all) => all.map((r) => Number(r.children[2].textContent.replace(/,/g, ''))));
    const busy = summaryOf(out).gpu_timeline_ms.busy;
    const sum = rows.reduce((x, y) => x + y, 0);
    assert.ok(Math.abs(sum - busy) < 0.02 * busy, `${sum} of ${busy} ms`);
    await page.done();
  },

  async 'filters, sorts and copies a table'() {
    const out = report(example('llama-h200'));
    const page = await open(out);
    await page.show('tables');
    await page.selectOption('#table', 'ops_summary');
    const all = summaryOf(out).ops.length;
    assert.match(await page.textContent('.table [role=status]'), new RegExp(`^${all} of ${all} rows`));
    await page.fill('.table input[type=search]', 'aten::m');
    const names = await page.$$eval('.table tbody tr[aria-rowindex] td:first-child', (cells) => cells.map((c) => c.textContent));
    assert.ok(names.length > 0 && names.length < all && names.every((n) => n.includes('aten::m')));
    await page.click('.table th button >> nth=0');
    const sorted = await page.$$eval('.table tbody tr[aria-rowindex] td:first-child', (cells) => cells.map((c) => c.textContent));
    assert.deepEqual(sorted, [...names].sort((x, y) => x.localeCompare(y)));
    await page.click('.columns summary');
    await page.uncheck('.columns label:has-text("Categories") input');
    assert.equal(await page.locator('.table th:has-text("Categories")').count(), 0);
    await page.click('text=Copy as CSV');
    await page.waitForFunction(() => /copied/.test(document.querySelector('.table [role=status]').textContent));
    const copied = (await page.evaluate(() => navigator.clipboard.readText())).trim().split('\n');
    assert.equal(copied.length, sorted.length + 1);
    assert.ok(copied[0].startsWith('name,') && !copied[0].includes('Categories'));
    await page.done();
  },

  async 'a finding leads to its event, and the address to the view'() {
    const out = report(example('llama-h200'));
    const page = await open(out);
    await page.click('.finding:nth-of-type(2) button.show');
    await page.waitForSelector('.details h3');
    const name = await page.textContent('.details h3');
    assert.match(await page.textContent('.details'), /Unfused memory-bound ops/);
    assert.match(await page.textContent('.chip'), /Unfused memory-bound ops/);
    await page.waitForFunction(() => /t=\d+-\d+/.test(location.hash) && /e=\d+/.test(location.hash) && /f=\d+/.test(location.hash));
    const view = await page.view();
    const hash = await page.evaluate(() => location.hash);
    const other = await open(out, hash);
    await other.waitForSelector('.details h3');
    assert.equal(await other.textContent('.details h3'), name);
    const again = await other.view();
    assert.ok(Math.abs(again[0] - view[0]) < 2 && Math.abs(again[1] - view[1]) < 2);
    await other.done();
    await page.goBack();
    await page.waitForSelector('.bar');
    await page.done();
  },

  async 'works by keyboard alone'() {
    const page = await open(report(example('llama-h200')));
    for (let i = 0; i < 3; i++) await page.keyboard.press('Tab'); // keys, light or dark, the views
    assert.equal(await page.evaluate(() => document.activeElement.id), 'tab-overview');
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(() => window.fathomTimeline?.frames.length > 0);
    assert.equal(await page.evaluate(() => document.activeElement.id), 'tab-timeline');
    for (let i = 0; i < 12 && (await page.evaluate(() => document.activeElement.tagName)) !== 'CANVAS'; i++) await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowRight');
    await page.waitForSelector('.details h3');
    const before = await page.textContent('.details');
    await page.keyboard.press('ArrowDown');
    await page.waitForFunction((t) => document.querySelector('.details')?.textContent !== t, before);
    await page.keyboard.press('m');
    await page.waitForSelector('.range table');
    await page.show('roofline');
    await page.focus('circle >> nth=0');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.details h3');
    await page.show('tree');
    const boxes = await page.locator('.icicle g').count();
    await page.focus('.icicle g >> nth=1');
    await page.keyboard.press('Enter');
    await page.waitForFunction((n) => document.querySelectorAll('.icicle g').length !== n, boxes);
    await page.done();
  },

  async 'names, roles and tables beside pictures'() {
    const page = await open(report(example('llama-h200')));
    for (const tab of await page.locator('[role=tab]').all()) {
      await tab.click();
      await page.waitForTimeout(150);
      const nameless = await page.$$eval('main button, main input, main select, main canvas, main svg', (all) =>
        all
          .filter((e) => !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length || e.closest('[aria-hidden=true]') || e.closest('.chart')))
          .map((e) => e.outerHTML.slice(0, 80)),
      );
      assert.deepEqual(nameless, [], await tab.textContent());
      const pictures = await page.locator('main svg, main canvas, main .bar').count();
      const tables = await page.locator('main table, main details.inview').count();
      assert.ok(pictures === 0 || tables > 0, await tab.textContent());
    }
    assert.equal(await page.getAttribute('html', 'lang'), 'en');
    await page.done();
  },

  async 'light, dark and print'() {
    const page = await open(report(example('llama-h200')));
    const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await back();
    await page.click('[aria-label="Switch to dark colours"]');
    assert.notEqual(await back(), light);
    await page.emulateMedia({ media: 'print' });
    assert.equal(await back(), 'rgb(255, 255, 255)');
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    await page.waitForFunction(() => document.querySelectorAll('main section').length >= 5);
    assert.equal(await page.locator('[role=tablist]').isVisible(), false);
    await page.setViewportSize({ width: 800, height: 1100 }); // of paper
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 800);
    await page.evaluate(() => dispatchEvent(new Event('afterprint')));
    await page.waitForFunction(() => document.querySelectorAll('main section').length < 5);
    await page.done();
  },

  async 'hostile names stay text'() {
    const script = '<script>window.hacked=1</script><img src=x onerror="window.hacked=1">';
    const closing = '</script><script>window.hacked=1</script>';
    const bidi = 'safe\u202egnp.exe\u2066';
    const long = 'x'.repeat(1 << 20);
    const names = [script, closing, bidi, long, '"><svg onload=window.hacked=1>', '__proto__', 'constructor', '{{7*7}}', '=1+1'];
    const events = [];
    names.forEach((name, i) => {
      const ts = 100 + i * 100;
      const args = (more) => ({ correlation: i + 1, ...more });
      events.push({ ph: 'X', cat: 'cpu_op', name, pid: 1, tid: 1, ts, dur: 50, args: { 'Input Dims': [[4, 4]], 'Input type': [name.slice(0, 100)] } });
      events.push({ ph: 'X', cat: 'cuda_runtime', name: 'cudaLaunchKernel', pid: 1, tid: 1, ts: ts + 5, dur: 10, args: args({}) });
      events.push({ ph: 'X', cat: 'kernel', name, pid: 0, tid: 7, ts: ts + 20, dur: 30, args: args({ device: 0, stream: 7 }) });
    });
    events.push({ ph: 'M', name: 'thread_name', pid: 1, tid: 1, args: { name: script } });
    const trace = join(place, '<b>hostile.json');
    writeFileSync(trace, JSON.stringify({ deviceProperties: [{ id: 0, name: script }], traceEvents: events }));
    const out = report(trace);
    const html = readFileSync(join(out, 'report.html'), 'utf8');
    assert.ok(!html.includes('hacked') && html.length < 1 << 20, `${html.length} bytes`);
    const page = await open(out);
    assert.equal(await page.textContent('h1'), '<b>hostile.json');
    for (const tab of await page.locator('[role=tab]').all()) {
      await tab.click();
      await page.waitForTimeout(200);
      assert.equal(await page.locator('main img, main script, main b').count(), 0);
      const text = await page.textContent('body');
      assert.ok(!/[\u202a-\u202e\u2066-\u2069]/.test(text), 'direction marks are shown as escapes');
    }
    await page.show('timeline');
    await page.fill('#search', 'window.hacked');
    await page.waitForSelector('#matches');
    await page.click('[aria-label="Next match"]');
    await page.waitForSelector('.details h3');
    assert.match(await page.textContent('.details'), /window\.hacked=1/);
    await page.fill('#search', '\\u202e');
    await page.waitForFunction(() => /[1-9]/.test(document.querySelector('#matches')?.textContent ?? ''));
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    await page.done();
  },

  async 'no evaluation, no network'() {
    const out = report(example('llama-h200'));
    const policy = readFileSync(join(out, 'report.html'), 'utf8').match(/Content-Security-Policy" content="([^"]*)"/)[1];
    assert.match(policy, /default-src 'none'/);
    assert.ok(!/unsafe|\*|https?:/.test(policy), policy);
    const page = await open(out);
    const blocked = await page.evaluate(async () => {
      const found = [];
      addEventListener('securitypolicyviolation', (e) => found.push(e.effectiveDirective));
      // Later: what the test itself evaluates is exempt.
      await new Promise((done) =>
        setTimeout(() => {
          try {
            (0, eval)('1');
            found.push('eval ran');
          } catch {
            found.push('eval refused');
          }
          done();
        }, 0),
      );
      const script = document.createElement('script');
      script.textContent = 'window.ran = 1';
      document.body.append(script);
      await fetch('https://example.invalid/').catch(() => {});
      await new Promise((done) => setTimeout(done, 100));
      return { found, ran: window.ran };
    });
    assert.equal(blocked.ran, undefined);
    assert.ok(blocked.found.includes('eval refused'));
    assert.ok(blocked.found.includes('script-src-elem') && blocked.found.includes('connect-src'), blocked.found.join());
  },

  async 'reports of other commands'() {
    const made = (name, ...words) => {
      const out = join(place, name);
      execFileSync(fathom, [...words, '--out', out, '-q']);
      return out;
    };
    const diff = await open(made('diff', 'diff', example('llama-h200'), example('llama-compiled-h200')));
    assert.equal(await diff.locator('.bar .whole').count(), 2);
    assert.match(await diff.textContent('#document'), /Wall time/);
    assert.ok((await diff.locator('#document table tbody tr').count()) > 5);
    await diff.click('#tab-tables');
    assert.ok((await diff.locator('main [role=region]').count()) > 0);
    await diff.done();
    const story = await open(made('story', 'story', example('llama-h200')));
    assert.match(await story.textContent('#document'), /prefill/);
    await story.done();
    const scan = await open(made('scan', 'scan', join(source, 'examples/tiny-engine')));
    const links = scan.locator('nav button');
    assert.ok((await links.count()) > 3);
    await scan.click('nav button:has-text("Architecture")');
    await scan.waitForSelector('svg.diagram');
    assert.ok((await scan.locator('svg.diagram rect').count()) > 1);
    const inner = scan.locator('#document button.link').first();
    await scan.click('nav button >> nth=0');
    await inner.click();
    assert.match(await scan.evaluate(() => location.hash), /table=/);
    await scan.done();
  },

  async 'a page that was cut off says so'() {
    const out = report(example('ddp-rank0-h200'));
    const html = readFileSync(join(out, 'report.html'), 'utf8');
    const at = html.indexOf('id="facts">') + 11;
    const cut = join(place, 'cut');
    execFileSync('mkdir', ['-p', cut]);
    writeFileSync(join(cut, 'report.html'), html.slice(0, at + 4000) + html.slice(html.indexOf('</script>', at)));
    const page = await (await browser.newContext()).newPage();
    await page.goto(pathToFileURL(join(cut, 'report.html')).href);
    await page.waitForFunction(() => document.body.textContent.includes('could not be read'));
  },

  async 'a frame costs what is on the screen, not what is in the trace'() {
    const looked = {};
    for (const events of [20_000, 300_000]) {
      const trace = join(place, `many-${events}.json`);
      const lines = [];
      for (let i = 0; i < events / 3; i++) {
        const ts = 1000 + i * 10;
        lines.push(`{"ph":"X","cat":"cpu_op","name":"aten::op${i % 50}","pid":1,"tid":1,"ts":${ts},"dur":9}`);
        lines.push(`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":${ts + 1},"dur":4,"args":{"correlation":${i + 1}}}`);
        lines.push(`{"ph":"X","cat":"kernel","name":"kernel_${i % 20}","pid":0,"tid":7,"ts":${ts + 6},"dur":${(i % 7) + 1},"args":{"correlation":${i + 1},"device":0,"stream":7}}`);
      }
      writeFileSync(trace, `{"traceEvents":[${lines.join(',\n')}]}`);
      const page = await open(report(trace));
      await page.show('timeline');
      await page.waitForTimeout(1500);
      looked[events] = await page.evaluate(async () => {
        const t = window.fathomTimeline;
        const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        let most = 0;
        for (let zoom = 0; zoom < 14; zoom++) {
          t.zoom(0.6);
          await frame();
          most = Math.max(most, t.drawn);
        }
        return most;
      });
      await page.done();
    }
    assert.ok(looked[300_000] < 4 * looked[20_000] && looked[300_000] < 60_000, JSON.stringify(looked));
  },
};

await runAll(checks);
