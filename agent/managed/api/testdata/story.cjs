// A story with the official client (PKG): it is told where the server is (BASE) and a key (KEY). It does what a user of the
// client does, and emits what it sees.
'use strict';
const {default: Anthropic, APIError} = require(process.env.PKG);
const {emit, end} = require('harness.cjs');

const client = new Anthropic({baseURL: process.env.BASE, ...(process.env.OLD ? {apiKey: process.env.KEY, authToken: null} :
  {apiKey: process.env.KEY})});
const beta = client.beta;

// follow sends events and returns the types of what the session tells until it is idle.
async function follow(session, events, options) {
  const stream = await beta.sessions.events.stream(session.id, options);
  const sent = events.length ? await beta.sessions.events.send(session.id, {events}) : null;
  const seen = [];
  for await (const event of stream) {
    seen.push(event);
    if (event.type === 'session.status_idle') break;
  }
  return {seen, sent};
}

const text = (t) => ({type: 'user.message', content: [{type: 'text', text: t}]});
const told = (seen) => seen.map((e) => e.type).join(' ');
const last = (seen) => seen[seen.length - 1].stop_reason.type;
const said = (seen) => seen.filter((e) => e.type === 'agent.message').map((e) => e.content[0].text).join('|');

async function failing(what, f) {
  try {
    await f();
    emit('failed', {text: `${what} was not refused`});
  } catch (err) {
    if (!(err instanceof APIError)) throw err;
    emit('refused', {text: what, code: err.status, data: {kind: err.error && err.error.error && err.error.error.type,
      request: err.requestID || (err.headers && err.headers.get && err.headers.get('request-id')), message: err.message}});
  }
}

async function main() {
  const agent = await beta.agents.create({name: 'desk', model: 'script', system: 'You are a desk.', tools: [
    {type: 'agent_toolset_20260401', default_config: {permission_policy: {type: 'always_ask'}}},
    {type: 'custom', name: 'deploy', description: 'deploys', input_schema: {type: 'object', properties: {}}}]});
  emit('agent', {data: agent});
  const environment = await beta.environments.create({name: 'home', config: {type: 'cloud', networking: {type: 'unrestricted'}}});
  const session = await beta.sessions.create({agent: agent.id, environment_id: environment.id, title: 'a story'});
  emit('session', {data: session});

  let turn = await follow(session, [text('Hello')]);
  emit('turn', {text: told(turn.seen), data: {reason: last(turn.seen), said: said(turn.seen), sent: turn.sent}});

  turn = await follow(session, [text('Deploy')]); // the model calls a custom tool
  const use = turn.seen.find((e) => e.type === 'agent.custom_tool_use');
  emit('custom', {text: told(turn.seen), data: {reason: last(turn.seen), use}});
  turn = await follow(session, [{type: 'user.custom_tool_result', custom_tool_use_id: use.id,
    content: [{type: 'text', text: 'deployed'}]}]);
  emit('result', {text: told(turn.seen), data: {reason: last(turn.seen), said: said(turn.seen)}});

  turn = await follow(session, [text('Delete')]); // the model calls a tool that must be confirmed
  const ask = turn.seen.find((e) => e.type === 'agent.tool_use');
  emit('ask', {text: told(turn.seen), data: {reason: last(turn.seen), permission: ask.evaluated_permission}});
  turn = await follow(session, [{type: 'user.tool_confirmation', tool_use_id: ask.id, result: 'allow'}]);
  emit('allow', {text: told(turn.seen), data: {reason: last(turn.seen), said: said(turn.seen)}});

  turn = await follow(session, [text('Wait')]); // the model calls the custom tool again, and the user interrupts
  turn = await follow(session, [{type: 'user.interrupt'}]);
  emit('interrupt', {text: told(turn.seen), data: {reason: last(turn.seen)}});

  const deltas = await follow(session, [text('Bye')], {event_deltas: ['agent.message']});
  emit('deltas', {text: told(deltas.seen), data: {
    parts: deltas.seen.filter((e) => e.type === 'event_delta').map((e) => e.delta.content.text).join(''), said: said(deltas.seen)}});

  const all = [], pages = [];
  for await (const e of beta.sessions.events.list(session.id)) all.push(e.id);
  for await (const e of beta.sessions.events.list(session.id, {limit: 7})) pages.push(e.id);
  const down = [];
  for await (const e of beta.sessions.events.list(session.id, {limit: 5, order: 'desc'})) down.push(e.id);
  emit('lists', {data: {all, same: JSON.stringify(all) === JSON.stringify(pages),
    down: JSON.stringify(all) === JSON.stringify(down.reverse())}});

  await failing('an unknown call', () => beta.sessions.events.send(session.id, {events: [
    {type: 'user.custom_tool_result', custom_tool_use_id: 'sevt_no', content: []}]}));
  await failing('an unknown event', () => beta.sessions.events.send(session.id, {events: [{type: 'user.dance'}]}));
  await failing('another session', () => beta.sessions.retrieve('sesn_00000000000000000000000000'));
  await failing('a stale version', async () => {
    await beta.agents.update(agent.id, {version: 1, description: 'new'});
    await beta.agents.update(agent.id, {version: 1, description: 'newer'});
  });
  const archived = await beta.sessions.archive(session.id);
  emit('archived', {data: archived});
  await failing('a message to the archive', () => beta.sessions.events.send(session.id, {events: [text('Hi')]}));
  emit('deleted', {data: await beta.sessions.delete(session.id)});
  await failing('a deleted session', () => beta.sessions.retrieve(session.id));
  const wrong = new Anthropic({baseURL: process.env.BASE, apiKey: 'wrong'});
  await failing('a wrong key', () => wrong.beta.agents.retrieve(agent.id));
  end();
}

main().catch((err) => {
  emit('failed', {text: String(err.stack || err)});
  process.exitCode = 1;
  end();
});
