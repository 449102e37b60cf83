// Derives texts and permissions for the views from heads, users and events.

import { t, currentLanguage } from "../i18n/index.js";
import { compare, duration, list, roughSpan, shortDate, span } from "../i18n/format.js";

/** Returns the shown name of a user: the alias, the nick or the account name. */
export function userName(state, name) {
  if (!name) return t("appName");
  const user = state.user(name);
  return user?.alias || user?.nick || name;
}

/** Returns "You" for the signed-in user, else the shown name. */
export function actorName(state, name) {
  return name === state.account?.name ? t("you") : userName(state, name);
}

/** Returns a comparison of contacts by their shown names. */
export const byName = (state) => (one, other) => compare(userName(state, one.user.name), userName(state, other.user.name));

export function headTitle(state, head) {
  if (head.kind === "self") return t("savedMessages");
  if (head.kind === "pair" && head.peer) return userName(state, head.peer.name);
  return head.title || t("newGroup");
}

export const isGroup = (head) => head.kind === "group" || head.kind === "channel";
export const isMuted = (head, now = Date.now()) => (head.own?.muted_until ?? 0) > now;
export const isAdmin = (head) => head.role === "owner" || head.role === "admin";

/** Returns whether the user has a right that `setting` gives to all members or only to admins. */
export function permits(head, setting, fallback = "members") {
  if (!isGroup(head)) return true;
  if (isAdmin(head)) return true;
  if (head.role === "reader" || head.role === "guest") return false;
  return (head.settings?.[setting] ?? fallback) === "members";
}

/** Returns whether an admin does not let the user write at the time `now`. */
export const isSilenced = (head, now = Date.now()) => head.silenced_until > now;

export function canWrite(head, now = Date.now()) {
  if ((head.state && head.state !== "joined") || isSilenced(head, now)) return false;
  if (!isGroup(head) || isAdmin(head)) return true;
  return head.role !== "reader" && (head.settings?.write ?? (head.kind === "channel" ? "admins" : "members")) === "members";
}

const FILE_NAME = /^[^\s]+\.(png|jpe?g|gif|webp|avif|heic|mp4|mov|webm)$/i;
const KINDS = {
  image: "picture", video: "video", audio: "audio", file: "file", location: "location", card: "contactCard",
  poll: "poll", bundle: "bundle", encrypted: "encrypted", call: "call", hidden: "hidden",
};
export const ICONS = { image: "picture", video: "video", audio: "voice", file: "file", location: "pinPlace", card: "person", poll: "poll", bundle: "forward", call: "call" };

/** Returns the names of the kinds of messages, which stand for messages without a text. */
export const kindNames = () => ({ ...Object.fromEntries(Object.entries(KINDS).map(([kind, key]) => [kind, t(key)])), audio: t("voiceMessage") });

const NOTES = /^(conversation\.|member\.|pin$|react$|edit$|preview$|recall$|vote$|poll\.close|call\.update|self\.|contact\.|device\.)/;
/** Returns whether the event is a change that is shown as a line, not as a bubble. */
export const isNote = (event) => NOTES.test(event.kind);
/**
 * Returns whether the event has no row: it is shown at the message that it changes, or not at all.
 */
export const isSilent = (event) => /^(edit|preview$|recall|react|vote|poll\.close|call\.update|self\.|contact\.|device\.|hidden$)/.test(event.kind);

export function gone(state, event) {
  if (event.state === "recalled") return event.sender === state.account?.name ? t("recalledByYou") : t("recalled");
  if (event.state === "expired") return t("expired");
  if (event.state === "erased") return t("erased");
  return null;
}

/**
 * Returns the text of a message of an application's kind (`x.…`), which other clients show;
 * undefined for other kinds and without a text.
 */
export function customText({ kind, body, text = body?.text }) { return kind.startsWith("x.") && typeof text === "string" && text ? text : undefined; }

/** Returns one line for an event or a preview: the text, or the name of the kind. */
export function eventText(state, event) {
  const lost = gone(state, event);
  if (lost) return lost;
  if (isNote(event)) return noteText(state, event);
  // A preview in the list of conversations has no body; it contains the values that a call and a
  // voice message need.
  const body = event.body ?? { state: event.call, media: event.media, voice: event.voice, duration: event.duration };
  const text = event.text ?? body.text;
  switch (event.kind) {
    case "text": return text ?? "";
    case "call": return callText({ body, own: event.sender === state.account?.name });
    case "audio": return body.voice ? t("lasting", { what: t("voiceMessage"), time: duration(body.duration ?? 0) }) : text || body.name || t("audio");
    case "poll": return body.question ?? text ?? t("poll");
    case "file": return body.name ?? text ?? t("file");
    case "card": return `${t("contactCard")}${t("colon")}${body.nick ?? body.user ?? text ?? ""}`;
    case "location": return body.name ?? text ?? t("location");
    case "bundle": return body.title ?? text ?? t("bundle");
    case "image": case "video": return text && !FILE_NAME.test(text) ? text : t(KINDS[event.kind]);
    case "hidden": return "";
    default: return KINDS[event.kind] ? text || t(KINDS[event.kind]) : customText(event) ?? t("unknownKind");
  }
}

export function callText(event) {
  const { media, state: outcome, duration: length } = event.body ?? {};
  if (outcome === "missed") return t(event.own ? "callOutgoingMissed" : "callMissed");
  if (outcome === "declined") return t("callDeclined");
  if (outcome === "busy") return t("callBusy");
  const name = t(media === "video" ? "callVideo" : media ? "callAudio" : "call");
  return outcome === "ended" && length ? t("lasting", { what: name, time: duration(length) }) : outcome === "ringing" ? `${name} · ${t("callRinging")}` : name;
}

export const roleName = (role) => t({ owner: "roleOwner", admin: "roleAdmin", reader: "roleReader", guest: "roleGuest" }[role] ?? "roleMember");

/** Returns whether a ban or a mute that begins at `at` is permanent in practice. */
export const isForGood = (until, at = Date.now()) => until === undefined || until - at > 50 * 365 * 86_400_000;

/** Returns the line of a change, such as "Bob added Carol". */
export function noteText(state, event) {
  const body = event.body ?? {};
  const name = actorName(state, event.sender);
  const isAdded = body.via === "add" || (!body.via && event.users?.length > 0 && !event.users.includes(event.sender));
  const begins = event.kind === "member.join" && !isAdded; // the text begins with the users
  const users = list((body.users ?? event.users ?? []).map((user) => (user === state.account?.name && !begins ? t("youInside") : actorName(state, user))));
  switch (event.kind) {
    case "conversation.create": {
      const texts = { pair: "eventBeginChat", self: "eventBeginChat", channel: "eventCreateChannel" };
      return t(texts[body.kind] ?? "eventCreateGroup", { name });
    }
    case "conversation.set":
      if (body.title) return t("eventTitle", { name, title: body.title });
      if (body.avatar !== undefined) return t("eventPicture", { name });
      if (body.about !== undefined) return t("eventAbout", { name });
      return settingsText(name, body.settings ?? {});
    case "member.join": return isAdded ? t("eventAdd", { name, users }) : t("eventJoin", { users: users || name });
    case "member.leave": return t("eventLeave", { name });
    case "member.remove": return t("eventRemove", { name, users });
    case "member.ban": return isForGood(body.until, event.at) ? t("eventBan", { name, users }) : t("eventBanUntil", { name, users, time: shortDate(body.until) });
    case "member.invite": return t("eventInvite", { name, users });
    case "member.role": return t("eventRole", { name, users, role: currentLanguage() === "en" ? roleName(body.role).toLowerCase() : roleName(body.role) });
    case "member.unban": return t("eventUnban", { name, users });
    case "member.mute": {
      if (!(body.until > (event.at ?? 0))) return t("eventUnmute", { name, users });
      return isForGood(body.until, event.at) ? t("eventMute", { name, users }) : t("eventMuteUntil", { name, users, time: shortDate(body.until) });
    }
    case "pin": return t(body.remove ? "eventUnpin" : "eventPin", { name });
    case "react": return t("eventReact", { name, emoji: body.key ?? "" });
    default: return t("eventOther", { name });
  }
}

/** Returns the line of changed settings. It names a setting only if it is the only changed one. */
function settingsText(name, settings) {
  const [[key, value] = [], ...others] = Object.entries(settings);
  if (others.length === 0) {
    if (key === "expire") return value > 0 ? t("eventExpire", { name, time: span(value) }) : t("eventKeep", { name });
    if (key === "slow") return value > 0 ? t("eventSlow", { name, time: span(value) }) : t("eventSlowEnd", { name });
    if (key === "write") return t(value === "members" ? "eventWriteAll" : "eventWriteAdmins", { name });
  }
  return t("eventSettings", { name });
}

const ERRORS = {
  forbidden: "errorForbidden", not_found: "errorNotFound", limit: "errorLimit", too_many: "errorTooMany", too_late: "errorTooLate", too_large: "errorTooLong",
  offline: "errorOffline", storage: "errorStorage", unavailable: "errorUnavailable", conflict: "errorConflict", unsupported: "errorUnsupported",
  call_backend: "callNeedsClient", media_denied: "callDenied", media_missing: "callMissing", media_busy: "callInUse", media_insecure: "callInsecure",
  unauthorized: "errorUnauthorized", insecure: "errorInsecure", cancelled: "errorCancelled",
};

/**
 * Returns the text for a failed request: the reason and, if the server sent one, the time after which
 * the request can be repeated.
 */
export function errorText(error) {
  const seconds = error?.retryAfter > 0 ? Math.ceil(error.retryAfter / 1000) : 0;
  if (seconds && error.code === "forbidden") return t("errorSilenced", { time: roughSpan(seconds) });
  if (seconds && error.code === "too_many") return t("errorTooManyUntil", { time: roughSpan(seconds) });
  const key = ERRORS[error?.code];
  if (key) return t(key);
  return t(error?.code === "bad_request" ? "errorRefused" : "errorServer", { reason: error?.message || String(error) });
}

const withoutExpiry = new Set(); // the kinds of conversations in which the server refuses expiring messages

export const refuseExpiry = (kind) => withoutExpiry.add(kind);

/**
 * Returns whether the menu offers disappearing messages: to admins of groups, and to users of pairs
 * and notes unless the server refused them.
 */
export const mayExpire = (head) => !withoutExpiry.has(head.kind) && (!head.state || head.state === "joined") && (isGroup(head) ? isAdmin(head) : true);

/**
 * Returns whether the voters can be shown: the poll is not anonymous, and the user has voted or the
 * poll has ended.
 */
export function showsVoters(row, now) {
  const { body, votes, mine } = row;
  if (row.kind !== "poll" || body?.anonymous || !row.seq || !votes?.some(Boolean)) return false;
  return mine?.votes?.length > 0 || Boolean(body.closed) || body.closes_at <= now;
}

/**
 * Returns whether each word of the query occurs in the alias, nick or account name of a contact.
 */
export function matches({ user, alias }, query) {
  const names = `${alias ?? ""} ${user.nick ?? ""} ${user.name}`.toLocaleLowerCase();
  return query.toLocaleLowerCase().replaceAll("@", "").split(/\s+/).every((word) => names.includes(word));
}
