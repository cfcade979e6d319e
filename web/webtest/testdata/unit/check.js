// A test is a name and a function that throws. The modules under test are pure, so any browser tab
// can run them.

/** @type {{name: string, run: () => unknown}[]} */
const tests = [];

/**
 * Declares a test.
 * @param {string} name
 * @param {() => unknown} run
 */
export function test(name, run) {
  tests.push({ name, run });
}

/**
 * @param {unknown} got
 * @param {unknown} want
 */
export function equal(got, want, what = "value") {
  const a = JSON.stringify(got);
  const b = JSON.stringify(want);
  if (a !== b) throw new Error(`${what} is ${a}, want ${b}`);
}

/**
 * @param {unknown} condition
 * @param {string} what
 */
export function ok(condition, what) {
  if (!condition) throw new Error(what);
}

/**
 * @param {() => unknown} run
 * @param {string} what
 */
export function throws(run, what) {
  try {
    run();
  } catch {
    return;
  }
  throw new Error(`${what} was accepted`);
}

/** Runs everything that was declared; one {name, error} each, error empty when it passed. */
export async function runAll() {
  const results = [];
  for (const { name, run } of tests) {
    try {
      await run();
      results.push({ name, error: "" });
    } catch (error) {
      results.push({ name, error: error instanceof Error ? String(error.stack) : String(error) });
    }
  }
  return results;
}
