// Applies changes to events and heads, in the same way as the server.

const MESSAGES = new Set(["text", "image", "audio", "video", "file", "location", "card", "call", "poll", "bundle", "encrypted"]);
/**
 * The kinds of events that repeat the content of the message to which they refer. Their content is
 * removed with that of the message.
 */
const REPEATING = new Set(["edit", "preview"]);
const BLANK = new Set(["recalled", "expired", "erased"]);
const CALL_ENDS = new Set(["ended", "missed", "declined", "busy"]);

/**
 * Returns whether the event is a message. Events of unknown kinds with an ordinal are messages too.
 */
export const isMessage = (event) => MESSAGES.has(event.kind) || (event.n !== undefined && event.kind !== "hidden");
export const isBlank = (event) => BLANK.has(event.state);
/** Returns whether the event repeats content of the message to which it refers. */
export const repeats = (event) => REPEATING.has(event.kind);

/**
 * Returns the event after a change by any user, or the same object if the change has no effect on
 * it. `user` is the name of the signed-in user.
 */
export function applying(event, change, user) {
  if (change.thread === event.seq && change.n !== undefined) return replied(event, change);
  if (isMessage(change) || isBlank(event)) return event;
  const isTarget = change.ref === event.seq;
  if (!isTarget && !(change.kind === "recall" && repeats(event) && event.ref === change.ref)) return event;
  const body = change.body ?? {};
  switch (change.kind) {
    case "edit":
      return { ...event, body: body.body, state: "edited", edited_at: change.at };
    case "preview": return event.kind === "text" ? { ...event, body: { ...event.body, preview: body.preview } } : event;
    case "recall": return blanking(event, "recalled");
    case "react": return reacted(event, body, change.sender === user);
    case "vote": {
      const after = change.votes ? { ...event, votes: change.votes } : event;
      return change.sender === user ? { ...after, mine: { ...event.mine, votes: body.options ?? [] } } : after;
    }
    case "poll.close": return { ...event, body: { ...event.body, closed: true } };
    case "call.update": return { ...event, body: { ...event.body, state: body.state, ...(body.duration !== undefined && { duration: body.duration }) } };
    default: return event;
  }
}

function blanking({ body: _, reactions: __, votes: ___, expires_at: ____, mine: _____, ...rest }, state) { return { ...rest, state }; }

/** Returns the event without the content, as after its expiry. */
export const expiring = (event) => blanking(event, "expired");

/**
 * Returns the event as it is stored. An edit or a preview of a message without content is stored
 * without its content.
 */
export function keeping(event, target) {
  return repeats(event) && event.body && target && isBlank(target) ? blanking(event, target.state) : event;
}

/** Returns the message that began a thread after a reply in the thread. */
function replied(event, { seq }) {
  const { count = 0, seq: newest = 0 } = event.replies ?? {};
  return seq > newest ? { ...event, replies: { count: count + 1, seq } } : event;
}

function reacted(event, { key, remove }, own) {
  const reactions = (event.reactions ?? []).map((each) => (each.key === key ? { key, count: each.count + (remove ? -1 : 1) } : each));
  if (!remove && !reactions.some((each) => each.key === key)) reactions.push({ key, count: 1 });
  const after = { ...event, reactions: reactions.filter((each) => each.count > 0) };
  if (!own) return after;
  const before = (event.mine?.reactions ?? []).filter((each) => each !== key);
  return { ...after, mine: { ...event.mine, reactions: remove ? before : [...before, key] } };
}

/** Returns the preview of an event for a list of conversations. */
export function preview(event) {
  const body = event.body ?? {};
  const text = body.text ?? body.question ?? body.title ?? body.name ?? body.nick;
  return {
    seq: event.seq, n: event.n, sender: event.sender, at: event.at, kind: event.kind, state: event.state,
    text: typeof text === "string" ? [...text.slice(0, 400)].slice(0, 160).join("") : undefined, users: body.users,
    ...(event.kind === "call" && { call: body.state, media: body.media, duration: body.duration }),
    ...(event.kind === "audio" && { voice: body.voice, duration: body.duration }),
  };
}

/** Returns the head after new events at the end of its log, in the order of `seq`. */
export function advancing(head, events, user) {
  let after = head;
  for (const event of events) {
    if (event.seq <= after.seq) continue;
    after = { ...after, seq: event.seq };
    const isTop = movesUp(event, head.kind);
    if (isTop) after.at = Math.max(after.at ?? 0, event.at ?? 0);
    if (event.kind === "call" || event.kind === "call.update") after.call = calling(after.call, event);
    if (event.kind === "hidden") { if (event.n) after.n = event.n; continue; }
    after.last = isTop ? preview(event) : relast(after.last, event);
    if (event.kind === "pin") after.pins = pinned(after.pins, event);
    if (event.n === undefined) continue;
    const previous = after.n;
    after.n = event.n;
    if (event.sender !== user) {
      after.unread = (after.unread ?? 0) + 1;
      if (mentions(event, user)) after.mentions = (after.mentions ?? 0) + 1;
    } else if ((after.read ?? 0) === previous) after.read = event.n;
  }
  return after;
}

/** Returns the `seq` of the running call after an event of a call. */
function calling(call, { kind, seq, ref, body }) {
  const isOver = CALL_ENDS.has(body?.state);
  if (kind === "call") return isOver ? undefined : seq;
  return isOver && ref === call ? undefined : call;
}

/**
 * Returns whether an event moves its conversation up in lists and becomes its preview. Reactions,
 * edits and other changes of messages do not.
 */
export const movesUp = ({ n, kind, body }, conversation) => n !== undefined || /^(conversation\.(create|set)|member\.(invite|leave|remove))$/.test(kind)
  || (kind === "member.join" && (conversation !== "channel" || body?.via === "add"));

function relast(last, change) {
  if (!last || change.ref !== last.seq || isBlank(last)) return last;
  if (change.kind === "edit") return { ...last, state: "edited", text: change.body?.body?.text ?? last.text };
  if (change.kind === "recall") return { ...last, state: "recalled", text: undefined };
  if (change.kind === "call.update" && last.kind === "call") return { ...last, call: change.body?.state, duration: change.body?.duration };
  return last;
}

function pinned(pins = [], event) {
  const rest = pins.filter((seq) => seq !== event.ref);
  return event.body?.remove ? rest : [event.ref, ...rest];
}

/** Returns whether a message mentions the user. */
export function mentions(event, user) {
  return (event.body?.entities ?? []).some((each) => each.type === "all" || (each.type === "mention" && each.user === user));
}

/**
 * Returns the head after the user's read position moved to `read`. `unread` and `mentioned` are the
 * numbers of unread messages and mentions after it; absent ones are derived from the head.
 */
export function reading(head, read, unread, mentioned) {
  if (read < (head.read ?? 0)) return head;
  const left = unread ?? Math.max(0, Math.min(head.unread ?? 0, head.n - read));
  const own = head.own?.marked_unread ? { ...head.own, marked_unread: undefined } : head.own;
  return { ...head, read, unread: left, mentions: mentioned ?? (left === 0 ? 0 : head.mentions), own };
}
