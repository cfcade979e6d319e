// A test is a name and a function that throws. The modules under test are pure, so any browser tab can run them.

const tests = [];

export function test(name, run) {
  tests.push({ name, run });
}

export function equal(got, want, what = "value") {
  const a = JSON.stringify(got);
  const b = JSON.stringify(want);
  if (a !== b) throw new Error(`${what} is ${a}, want ${b}`);
}

export function ok(condition, what) {
  if (!condition) throw new Error(what);
}

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
      results.push({ name, error: String(error.stack ?? error) });
    }
  }
  return results;
}
