// The worker of a tab. The worker of one tab is the leader: it holds a lock and runs the core. The
// other workers send it the requests of their pages, and pass its events to their pages. When the
// leader ends, another worker acquires the lock.

import { Core } from "./core.js";
import { refusal, uuid } from "./requests.js";

const channel = new BroadcastChannel("apus-chat-core");
const tab = uuid();
const pending = new Map(); // the unanswered requests of this tab
let core = null;

self.onmessage = ({ data }) => {
  const request = { ...data, body: named(data.name, data.body) };
  pending.set(request.id, request);
  ask(request);
};

channel.onmessage = ({ data }) => {
  if (data.leader) for (const request of pending.values()) ask(request);
  else if (data.event && !core) self.postMessage({ event: data.event });
  else if (data.to === tab) answered(data.answer);
  else if (data.request && core) serve(data.request, data.from, (answer) => channel.postMessage({ to: data.from, answer }));
};

navigator.locks.request("apus-chat-core", () => {
  core = new Core((event) => {
    self.postMessage({ event });
    channel.postMessage({ event });
  });
  self.postMessage({ event: { type: "leading" } });
  channel.postMessage({ leader: tab });
  for (const request of pending.values()) ask(request);
  return new Promise(() => {});
});

function ask(request) {
  if (core) serve(request, tab, answered);
  else channel.postMessage({ request, from: tab });
}

async function serve({ id, name, body }, from, reply) {
  try {
    reply({ id, value: await core.request(name, body, from) });
  } catch (error) {
    reply({ id, error: refusal(error).plain });
  }
}

function answered(answer) {
  if (pending.delete(answer.id)) self.postMessage(answer);
}

/**
 * Returns the body of a request with an id. If a request reaches two leaders, the id ensures that it
 * takes effect once.
 */
function named(name, body = {}) {
  if (name === "send") return { key: uuid(), ...body };
  if (name === "verb") return { ...body, body: { id: uuid(), ...body.body } };
  return body;
}
