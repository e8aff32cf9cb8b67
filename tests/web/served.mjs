// What `fathom serve` shows, in a real browser. Prints a line for each check; exit code 1 where one failed.
//   node served.mjs FATHOM SOURCE_DIR CHROMIUM
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [fathom, source, chrome] = process.argv.slice(2);
const { chromium } = await import(pathToFileURL(join(source, 'web/node_modules/playwright-core/index.mjs')).href);
const place = mkdtempSync(join(tmpdir(), 'fathom-served-'));
const browser = await chromium.launch({ executablePath: chrome, args: ['--no-sandbox'] });
const example = (name) => join(source, 'examples', `${name}.json.gz`);

async function serve(...paths) {
  const child = spawn(fathom, ['serve', '-q', ...paths], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stderr.on('data', (text) => (said += text));
  const address = await new Promise((done) => {
    child.stdout.on('data', (text) => done(String(text).trim()));
    child.on('exit', () => done(''));
  });
  if (said.includes('this build has no server')) {
    console.log('skipped: no Boost headers when it was built: tools/setup --serve');
    await browser.close();
    process.exit(0);
  }
  assert.match(address, /^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/$/, said);
  return { address, stop: () => new Promise((done) => (child.on('exit', (code) => done(code)), child.kill('SIGTERM'))) };
}

async function open(address) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
  const page = await context.newPage();
  page.problems = [];
  page.on('console', (m) => ['error', 'warning'].includes(m.type()) && page.problems.push(m.text()));
  page.on('pageerror', (e) => page.problems.push(e.message));
  page.on('request', (r) => r.url().startsWith(new URL(address).origin) || page.problems.push(`asks for ${r.url()}`));
  await page.goto(address);
  return page;
}

const report = (name) => {
  const out = join(place, `${name}.fathom`);
  execFileSync(fathom, ['analyze', example(name), '--out', out, '--no-cache', '-q']);
  return out;
};
const llama = report('llama-h200');
const train = report('train-h200');

const checks = {
  async 'one report opens at once and works as from disk'() {
    const server = await serve(llama);
    const page = await open(server.address);
    await page.waitForURL(/report\.html/);
    await page.waitForSelector('h1');
    for (const tab of await page.locator('[role=tab]').all()) {
      await tab.click();
      assert.ok((await page.locator('main section').count()) > 0, await tab.textContent());
    }
    await page.click('#tab-timeline');
    await page.waitForFunction(() => window.fathomTimeline?.frames.length > 0);
    await page.click('[aria-label^="Switch to"]'); // light and dark, where nothing can be stored
    assert.match(page.url(), /#timeline/);
    assert.deepEqual(page.problems, []);
    // In an origin of its own: it cannot ask the server for other files.
    const got = await page.evaluate(() => fetch('summary.json').then(() => 'read', () => 'refused'));
    assert.equal(got, 'refused');
    await page.context().close();
    assert.equal(await server.stop(), 0);
  },

  async 'several are a list, and side by side'() {
    const server = await serve(llama, train);
    const page = await open(server.address);
    await page.waitForFunction(() => /%/.test(document.querySelectorAll('#rows tr')[1]?.textContent ?? ''));
    const rows = await page.$$eval('#rows tr', (all) => all.map((r) => r.textContent));
    assert.match(rows[0], /llama-h200\.fathom.*NVIDIA H200.*ms.*%/s);
    assert.ok(await page.isDisabled('#compare'));
    for (const box of await page.locator('#rows input').all()) await box.check();
    await page.click('#compare');
    await page.waitForFunction(() => document.querySelectorAll('iframe').length === 2);
    for (const [i, name] of ['llama-h200', 'train-h200'].entries()) {
      assert.match(await page.frameLocator(`iframe >> nth=${i}`).locator('h1').textContent(), new RegExp(name));
    }
    await page.click('#back');
    await page.waitForSelector('#rows tr');
    assert.equal(await page.locator('iframe').count(), 0);
    await page.click('#rows a.report >> nth=1');
    await page.waitForSelector('[role=tab]');
    assert.deepEqual(page.problems, []);
    await page.context().close();
    await server.stop();
  },

  async 'a trace is followed until its report is there'() {
    // A pipe, so that the reading lasts as long as the check needs it.
    const trace = join(place, 'new.json.gz');
    execFileSync('mkfifo', [trace]);
    writeFileSync(join(place, '<img src=x>.json'), 'no trace');
    const server = await serve(trace, join(place, '<img src=x>.json'));
    const page = await open(server.address);
    await page.waitForFunction(() => document.querySelectorAll('#rows tr').length === 2);
    assert.match(await page.textContent('#status'), /being made/);
    await page.waitForFunction(() => /reading the trace/.test(document.querySelector('#rows').textContent));
    assert.equal(await page.locator('#rows progress').count(), 2);
    await writeFile(trace, readFileSync(example('llama-stacks-h200')));
    await page.waitForSelector('#rows a.report', { timeout: 120000 });
    await page.waitForSelector('.failed', { timeout: 120000 });
    assert.match(await page.textContent('.failed'), /<img src=x>\.json/);
    assert.equal(await page.locator('#rows img').count(), 0);
    await page.click('#rows a.report');
    await page.waitForSelector('[role=tab]');
    assert.deepEqual(page.problems, []);
    await page.context().close();
    await server.stop();
  },

  async "another site's page reads and embeds nothing"() {
    const server = await serve(llama, train);
    const other = createServer((_, answer) => answer.setHeader('Content-Type', 'text/html').end('<p>other</p>'));
    await new Promise((done) => other.listen(0, '127.0.0.1', done));
    const page = await (await browser.newContext()).newPage();
    await page.goto(`http://localhost:${other.address().port}/`);
    const tried = await page.evaluate(async (address) => {
      const read = await fetch(address + 'reports.json').then((a) => a.status, () => 'refused');
      const blind = await fetch(address + 'reports.json', { mode: 'no-cors' }).then((a) => a.type, () => 'refused');
      const frame = document.createElement('iframe');
      frame.src = address;
      document.body.append(frame);
      await new Promise((done) => (frame.onload = done));
      return { read, blind };
    }, server.address);
    assert.equal(tried.read, 'refused');
    assert.equal(tried.blind, 'refused');
    assert.equal(await page.frames()[1].locator('#rows').count(), 0);
    other.close();
    await page.context().close();
    await server.stop();
  },

  async 'says when the server is gone'() {
    const server = await serve(llama, train);
    const page = await open(server.address);
    await page.waitForSelector('#rows tr');
    assert.equal(await server.stop(), 0);
    await page.waitForFunction(() => /does not answer/.test(document.querySelector('#status').textContent));
    await page.context().close();
  },
};

let failed = 0;
try {
  mkdirSync(place, { recursive: true });
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check();
      console.log(`ok      ${name}`);
    } catch (error) {
      failed++;
      console.log(`FAILED  ${name}\n${error.stack}`);
    }
  }
} finally {
  await browser.close();
  rmSync(place, { recursive: true, force: true });
}
process.exit(failed > 0 ? 1 : 0);
