// Checks with the official client (PKG) against a server (BASE, KEY). Each is emitted with what was seen.
'use strict';
const {default: Anthropic, APIError} = require(process.env.PKG);
const {emit, end} = require('harness.cjs');

let requests = [], lose = 0, cut = 0;

// watched is fetch that counts, loses answers, and cuts streams.
async function watched(url, init) {
  requests.push(`${(init && init.method || 'GET').toUpperCase()} ${new URL(url).pathname}`);
  const response = await fetch(url, init);
  if (lose > 0 && init.method.toUpperCase() === 'POST') {
    lose--;
    await response.arrayBuffer();
    throw new TypeError('fetch failed');
  }
  if (cut > 0 && String(url).includes('/events/stream')) {
    cut--;
    const reader = response.body.getReader();
    const body = new ReadableStream({async start(control) {
      const {value} = await reader.read(); // the first events, and then nothing more
      control.enqueue(value);
      control.error(new TypeError('terminated'));
      reader.cancel().catch(() => {});
    }});
    return new Response(body, {status: response.status, headers: response.headers});
  }
  return response;
}

const client = new Anthropic({baseURL: process.env.BASE, apiKey: process.env.KEY, fetch: watched});
const beta = client.beta, events = beta.sessions.events;
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const text = (t) => ({type: 'user.message', content: [{type: 'text', text: t}]});
const interrupt = {type: 'user.interrupt'};
const check = (name, ok, seen) => emit('check', {text: name, code: ok ? 1 : 0, data: {seen}});
const types = (seen) => seen.map((e) => e.type.replace('session.', '').replace('status_', '')).join(' ');
const said = (seen) => seen.filter((e) => e.type === 'agent.message').map((e) => e.content[0].text).join('|');
let agent, environment;

const start = () => beta.sessions.create({agent: agent.id, environment_id: environment.id});
const send = (session, ...list) => events.send(session.id, {events: list});

// follow reads a stream until an event, and calls f with each.
async function follow(stream, until, f = () => {}) {
  const seen = [];
  for await (const e of stream) {
    seen.push(e);
    await f(e);
    if (until(e)) break;
  }
  return seen;
}

const idle = (reason) => (e) => e.type === 'session.status_idle' && (!reason || e.stop_reason.type === reason);

async function refused(f) {
  requests = [];
  try {
    await f();
    return {status: 200, requests: requests.slice()};
  } catch (err) {
    if (!(err instanceof APIError)) throw err;
    return {status: err.status, requests: requests.slice(), message: err.message};
  }
}

// 6: silence, then an event.
async function silence() {
  const session = await start();
  const stream = await events.stream(session.id);
  const reading = follow(stream, idle());
  await sleep(300); // many heartbeats
  await send(session, text('Hello'));
  const seen = await reading;
  check('silence', said(seen) === 'Hello' && seen.length === 8, types(seen));
}

// 13: the result comes before the session is told to be idle.
async function resultBeforeIdle() {
  const session = await start();
  const stream = await events.stream(session.id);
  await send(session, text('call deploy {"x":1}'));
  const seen = await follow(stream, idle('end_turn'), async (e) => {
    if (e.type === 'agent.custom_tool_use') await send(session, {type: 'user.custom_tool_result', custom_tool_use_id: e.id,
      content: [{type: 'text', text: 'early'}]});
  });
  check('result before idle', said(seen) === 'deploy: {"result":"early"}', types(seen));
}

// 14: what is wrong is refused with one request; a second answer has no effect.
async function refusals() {
  const session = await start();
  const stream = await events.stream(session.id);
  await send(session, text('call deploy'));
  const seen = await follow(stream, idle('requires_action'));
  const use = seen.find((e) => e.type === 'agent.custom_tool_use').id;
  const result = {type: 'user.custom_tool_result', custom_tool_use_id: use, content: []};
  for (const [name, event] of Object.entries({
    'an unknown call': {...result, custom_tool_use_id: 'sevt_x'},
    'a wrong kind of answer': {type: 'user.tool_confirmation', tool_use_id: use, result: 'allow'},
    'an unknown field': {...result, isError: true},
  })) {
    const r = await refused(() => send(session, event));
    check(name, r.status === 400 && r.requests.length === 1, r);
  }
  await send(session, result);
  const again = await refused(() => send(session, result));
  check('a second answer', again.status === 200, again);
  const none = await refused(() => beta.files.list());
  check('a route that is not served', none.status === 404 && none.requests.length === 1, none);
}

// tool is a tool that the runner of the client runs.
function tool(name, runs) {
  return {type: 'custom', name, description: name, input_schema: {type: 'object', properties: {}}, parse: (x) => x,
    run: async () => { runs.push(name); return 'done'; }};
}

// 16: the runner of the client runs each call once, whether it comes early, late, or is cut off.
async function runner() {
  for (const how of ['fresh', 'late', 'cut', 'ask']) {
    const session = await start(), runs = [];
    const message = text(how === 'ask' ? 'call deploy call delete_file' : 'call deploy');
    if (how === 'late') {
      const stream = await events.stream(session.id);
      await send(session, message);
      await follow(stream, idle('requires_action'));
    }
    if (how === 'cut') cut = 1;
    const running = (async () => {
      const calls = [];
      for await (const call of events.toolRunner(session.id, {tools: [tool('deploy', runs)], maxIdleMs: 150})) calls.push(call);
      return calls;
    })();
    if (how !== 'late') {
      await sleep(100);
      await send(session, message);
    }
    if (how === 'ask') {
      let ask;
      while (!ask) {
        for await (const e of events.list(session.id)) if (e.type === 'agent.tool_use') ask = e;
        await sleep(20);
      }
      await send(session, {type: 'user.tool_confirmation', tool_use_id: ask.id, result: 'allow'});
    }
    const calls = await running;
    const all = [];
    for await (const e of events.list(session.id)) all.push(e);
    const results = all.filter((e) => e.type === 'user.custom_tool_result').length;
    const last = all[all.length - 1];
    check(`runner ${how}`, runs.length === 1 && calls.filter((c) => c.posted).length === 1 && results === 1 &&
      last.type === 'session.status_idle' && last.stop_reason.type === 'end_turn', {types: types(all), runs});
  }
}

// 17: interrupts.
async function interrupts() {
  for (const [name, message, behind] of [['mid-model', 'hang'], ['mid-tool', 'call wait'], ['parked', 'call deploy'],
    ['with a message behind', 'hang', 'after']]) {
    const session = await start();
    const stream = await events.stream(session.id);
    await send(session, text(message));
    const until = {'call wait': (e) => e.type === 'agent.tool_use', 'call deploy': idle('requires_action'),
      hang: (e) => e.type === 'span.model_request_start'}[message];
    const more = await events.stream(session.id, {}, {headers: {'Last-Event-ID': '0'}});
    await follow(stream, until);
    await send(session, interrupt, ...(behind ? [text(behind)] : []));
    let idles = 0;
    const seen = await follow(more, (e) => idle('end_turn')(e) && ++idles === (behind ? 2 : 1));
    const stopped = seen.find((e) => e.type === 'user.interrupt' && e.processed_at);
    let after = said(seen);
    if (!behind) {
      const next = await events.stream(session.id);
      await send(session, text('after'));
      after = said(await follow(next, idle('end_turn')));
    }
    const want = {'call wait': /^wait: .*interrupt/, 'call deploy': /^deploy: .*interrupt/, hang: /^after$/}[message];
    check(`interrupt ${name}`, stopped && want.test(after), {types: types(seen), after});
  }
  const session = await start();
  await send(session, interrupt);
  const stream = await events.stream(session.id);
  await send(session, text('after'));
  const seen = await follow(stream, idle('end_turn'));
  check('interrupt idle', said(seen) === 'after', types(seen));
}

// 18: a session that is told to be idle may be archived or deleted at once.
async function endings() {
  const wrong = [];
  for (let i = 0; i < 10; i++) {
    const session = await start();
    const stream = await events.stream(session.id);
    await send(session, text('Hello'));
    await follow(stream, idle());
    const r = await refused(() => (i % 2 ? beta.sessions.delete(session.id) : beta.sessions.archive(session.id)));
    if (r.status !== 200 || r.requests.length !== 1) wrong.push(r);
  }
  check('archive and delete at idle', wrong.length === 0, wrong);
}

// 19 to 21: what runs is not archived; the archive is readable and takes nothing; a deleted session ends its streams.
async function archives() {
  const session = await start();
  await send(session, text('hang'));
  const r = await refused(() => beta.sessions.archive(session.id));
  check('archive running', r.status === 400 && r.requests.length === 1, r);
  const stream = await events.stream(session.id);
  await send(session, interrupt);
  await follow(stream, idle());
  const archived = await beta.sessions.archive(session.id);
  const late = await refused(() => send(session, text('late')));
  const all = [];
  for await (const e of events.list(session.id)) all.push(e);
  check('the archive', archived.status === 'terminated' && late.status === 400 && late.requests.length === 1 &&
    all.some((e) => e.type === 'session.status_terminated'), types(all));
  const other = await start();
  const watching = follow(await events.stream(other.id), () => false);
  await beta.sessions.delete(other.id);
  const last = await watching; // the stream ends by itself
  const gone = await refused(() => beta.sessions.retrieve(other.id));
  check('delete ends streams', types(last) === 'deleted' && gone.status === 404, types(last));
}

// 22: versions of an agent.
async function versions() {
  const session = await start();
  const same = await beta.agents.update(agent.id, {version: agent.version, name: agent.name});
  const next = await beta.agents.update(agent.id, {version: agent.version, description: 'new'});
  const stale = await refused(() => beta.agents.update(agent.id, {version: agent.version, description: 'newer'}));
  const kept = await beta.sessions.retrieve(session.id);
  check('agent versions', same.version === 1 && next.version === 2 && stale.status === 409 && stale.requests.length === 1 &&
    kept.agent.version === 1, {same: same.version, next: next.version, stale});
}

// 23: an answer is lost, the client repeats its request, and everything is there once.
async function lost() {
  lose = 1;
  const a = await beta.agents.create({name: 'lost', model: 'model'});
  lose = 1;
  const e = await beta.environments.create({name: 'lost', description: null});
  lose = 1;
  // Two sessions that begin alike may be of two people: a repetition needs a key.
  const s = await beta.sessions.create({agent: a.id, environment_id: e.id, title: 'lost'},
    {headers: {'Idempotency-Key': 'lost'}});
  lose = 1;
  await send(s, text('Hello'));
  const n = {agents: 0, environments: 0, sessions: 0, messages: 0};
  for await (const x of beta.agents.list()) n.agents += x.name === 'lost';
  for await (const x of beta.environments.list()) n.environments += x.name === 'lost';
  for await (const x of beta.sessions.list()) n.sessions += x.title === 'lost';
  for await (const x of events.list(s.id)) n.messages += x.type === 'user.message';
  check('lost answers', Object.values(n).every((c) => c === 1), n);
}

// 27: an overloaded model.
async function overload() {
  for (const [message, reason] of [['overload 1', 'end_turn'], ['overload 9', 'retries_exhausted']]) {
    const session = await start();
    const stream = await events.stream(session.id);
    await send(session, text(message));
    const seen = await follow(stream, idle());
    const retries = seen.filter((e) => e.type === 'session.error').map((e) => e.error.retry_status.type).join(' ');
    const rescheduled = seen.filter((e) => e.type === 'session.status_rescheduled').length;
    const running = seen.filter((e) => e.type === 'session.status_running').length;
    const want = reason === 'end_turn' ? ['retrying', 1, 2] : ['retrying retrying exhausted', 2, 3];
    check(message, seen[seen.length - 1].stop_reason.type === reason && retries === want[0] && rescheduled === want[1] &&
      running === want[2] && seen.filter((e) => e.type === 'session.error').every((e) => e.error.type === 'model_overloaded_error'),
      types(seen));
  }
}

// 11: pages of sessions in both directions.
async function pages() {
  const first = await beta.sessions.list({limit: 2});
  const second = await first.getNextPage();
  const back = await beta.sessions.list({limit: 2, page: second.prev_page});
  const ids = (p) => p.data.map((s) => s.id).join(' ');
  check('pages both ways', first.prev_page === null && ids(first) === ids(back) && ids(first) !== ids(second) &&
    back.prev_page === null && back.next_page !== null, {first: ids(first), second: ids(second), back: ids(back)});
}

async function main() {
  agent = await beta.agents.create({name: 'desk', model: 'model', tools: [
    {type: 'agent_toolset_20260401', configs: [{name: 'delete_file', permission_policy: {type: 'always_ask'}}]},
    {type: 'custom', name: 'deploy', description: 'deploys', input_schema: {type: 'object', properties: {}}}]});
  environment = await beta.environments.create({name: 'home', config: {type: 'cloud', networking: {type: 'unrestricted'}}});
  for (const f of [silence, resultBeforeIdle, refusals, runner, interrupts, endings, archives, overload, lost, pages, versions]) await f();
  end();
}

main().catch((err) => {
  emit('failed', {text: String(err.stack || err)});
  process.exitCode = 1;
  end();
});
