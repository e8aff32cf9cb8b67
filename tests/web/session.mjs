// What the checks of the page share: a browser, reports of traces, and running checks one after the other.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export const [fathom, source, chrome, only = ''] = process.argv.slice(2);
const { chromium } = await import(pathToFileURL(join(source, 'web/node_modules/playwright-core/index.mjs')).href);
export const place = mkdtempSync(join(tmpdir(), 'fathom-web-'));
export const browser = await chromium.launch({ executablePath: chrome, args: ['--no-sandbox'] });

export const example = (name) => join(source, 'examples', `${name}.json.gz`);
export const summaryOf = (out) => JSON.parse(readFileSync(join(out, 'summary.json'), 'utf8'));
export const run = (...words) => execFileSync(fathom, words, { stdio: ['ignore', 'ignore', 'inherit'] });

const reports = new Map();
export function report(trace) {
  if (!reports.has(trace)) {
    const out = join(place, `report-${reports.size}`);
    run('analyze', trace, '--out', out, '--no-cache', '-q');
    reports.set(trace, out);
  }
  return reports.get(trace);
}

// A page of a report; what it complains about fails the check.
export async function open(out, hash = '', viewport = { width: 1400, height: 900 }) {
  const context = await browser.newContext({ viewport, permissions: ['clipboard-read', 'clipboard-write'] });
  const page = await context.newPage();
  page.problems = [];
  page.on('console', (m) => ['error', 'warning'].includes(m.type()) && page.problems.push(m.text()));
  page.on('pageerror', (e) => page.problems.push(e.message));
  page.on('request', (r) => r.url().startsWith('file:') || page.problems.push(`asks for ${r.url()}`));
  await page.goto(pathToFileURL(join(out, 'report.html')).href + hash);
  await page.waitForSelector('h1');
  page.show = async (view) => {
    await page.click(`#tab-${view}`);
    if (view === 'timeline') await page.waitForFunction(() => window.fathomTimeline?.frames.length > 0);
  };
  page.view = () => page.evaluate(() => [window.fathomTimeline.begin, window.fathomTimeline.end]);
  page.done = async () => {
    assert.deepEqual(page.problems, []);
    await context.close();
  };
  return page;
}

// Prints a line for each check; ends with exit code 1 where one failed.
export async function runAll(checks) {
  let failed = 0;
  try {
    for (const [name, check] of Object.entries(checks)) {
      if (!name.includes(only)) continue;
      try {
        await check();
        console.log(`ok      ${name}`);
      } catch (error) {
        failed++;
        console.log(`FAILED  ${name}\n${error.stack ?? error}`);
      }
    }
  } finally {
    await browser.close();
    rmSync(place, { recursive: true, force: true });
  }
  process.exit(failed > 0 ? 1 : 0);
}
