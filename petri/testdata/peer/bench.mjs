// Runs the peer, libpetri for TypeScript, on the nets of bench_test.go and prints one line of JSON for each scenario.
// Construction is included, as in the peer's own benchmarks, and the end marking is asserted within the timed function.
//
//	npm install --prefix /tmp/peer libpetri@2.13.0
//	node --expose-gc petri/testdata/peer/bench.mjs /tmp/peer/node_modules/libpetri/dist/index.js
import { pathToFileURL } from 'node:url';

const lib = await import(pathToFileURL(process.argv[2]).href);
setInterval(() => {}, 1000).unref();

// The precompiled engine of 2.13.0 loses place 31 of every 32 (its masks are signed), so those are empty dummies.
function builder(name) {
  const net = lib.PetriNet.builder(name);
  const known = new Set();
  let ids = 0;
  const touch = (p, dummies) => {
    if (known.has(p)) return;
    if (ids % 32 === 31) {
      dummies.push(lib.place(`dummy${ids}`));
      ids++;
    }
    known.add(p);
    ids++;
  };
  return {
    add(name, inputs, outs, action) {
      const dummies = [];
      const t = lib.Transition.builder(name).inputs(...inputs.map(([arc]) => arc));
      for (const [, p] of inputs) touch(p, dummies);
      for (const p of outs) touch(p, dummies);
      for (const d of dummies) t.inhibitor(d);
      if (outs.length > 0) t.outputs(outs.length === 1 ? lib.outPlace(outs[0]) : lib.andPlaces(...outs));
      net.transition(t.timing(lib.immediate()).action(action ?? lib.fork()).build());
    },
    build: () => net.build(),
  };
}

function chain(n) {
  const b = builder('chain');
  const p = Array.from({ length: n + 1 }, (_, i) => lib.place(`p${i}`));
  for (let i = 0; i < n; i++) b.add(`t${i}`, [[lib.one(p[i]), p[i]]], [p[i + 1]]);
  return { net: b.build(), start: p[0], end: p[n], count: 1, firings: n };
}

function fanout(n) {
  const b = builder('fanout');
  const [start, done, end] = ['start', 'done', 'end'].map((s) => lib.place(s));
  const jobs = Array.from({ length: n }, (_, i) => lib.place(`job${i}`));
  b.add('fork', [[lib.one(start), start]], jobs);
  jobs.forEach((j, i) => b.add(`work${i}`, [[lib.one(j), j]], [done]));
  const join = async (ctx) => { ctx.output(end, 1); };
  b.add('join', [[lib.exactly(n, done), done]], [end], join);
  return { net: b.build(), start, end, count: 1, firings: n + 2 };
}

const engines = { bitmap: lib.BitmapNetExecutor, precompiled: lib.PrecompiledNetExecutor };

async function measure(scenario, engine, c, store) {
  const program = engine === 'precompiled' ? lib.PrecompiledNet.compile(c.net) : undefined;
  const once = async () => {
    const options = { program, eventStore: store() };
    const run = new engines[engine](c.net, new Map([[c.start, [lib.tokenOf(1)]]]), options);
    const marking = await run.run(10_000);
    return marking.tokenCount(c.end) === c.count;
  };
  const samples = [];
  const begin = performance.now();
  while (performance.now() - begin < 400) await once();
  const from = performance.now();
  while (performance.now() - from < 900 || samples.length < 20) {
    const t = performance.now();
    const ok = await once();
    const ns = (performance.now() - t) * 1e6;
    if (!ok) {
      console.log(JSON.stringify({ scenario, engine, invalid: true }));
      return;
    }
    samples.push(ns / c.firings);
  }
  samples.sort((a, b) => a - b);
  const median = Math.round(samples[samples.length >> 1]);
  console.log(JSON.stringify({ scenario, engine, version: '2.13.0', median_ns: median, min_ns: Math.round(samples[0]) }));
}

for (const engine of Object.keys(engines)) {
  for (const n of [10, 50, 100, 500]) await measure(`sync-chain-${n}`, engine, chain(n), lib.noopEventStore);
  for (const n of [10, 100]) await measure(`fanout-sync-${n}`, engine, fanout(n), lib.noopEventStore);
  await measure('events-inMemory/sync-chain-50', engine, chain(50), lib.inMemoryEventStore);
}
process.exit(0);
