// Users, conversations and messages of the sample. Messages are computed from their numbers, so
// that a log of 100,000 messages requires no memory.

export const ME = "alice";
const DAY = 86_400_000;
export const now = Date.now();

export const USERS = [
  ["alice", "Alice Lindqvist", "In the workshop"], ["bob", "Bob Marsh", "At the harbour", true], ["carol", "Carol Okafor", "", true],
  ["dave", "Dave Sørensen"], ["weilin", "陈维林", "出差中", true], ["xiaoyu", "王小雨", "慢一点也没关系"], ["erin", "Erin O’Neill", "", true],
  ["frank", "Frank Zimmermann"], ["grace", "Grace Kim 김은혜"], ["haoran", "李浩然", "", true], ["ivan", "Иван Петров"], ["judy", "Judy with a name that is far too long for a row of the list"],
  ["kenji", "田中健二"], ["lena", "Lena Vogel", "", true], ["b0b", "Bob Marsh"], ["newsbot", "Build bot", "", true],
].map(([name, nick, status, online], index) => ({
  name, nick, ...(status && { status }), ...(online ? { online } : { online: false, last_seen: now - (index + 1) * 47 * 60_000 }),
}));

const SETTINGS = { write: "members", invite: "members", manage: "admins", pin: "admins", mention_all: "admins", join: "closed", listed: false, history: "all", slow: 0, expire: 0, receipts: true };

const LINES = [
  "Morning! Is the boat back from the yard?", "Yes, since yesterday evening.", "好的，那我们下午三点在码头见？", "三点可以，我带热水和点心。", "Can somebody bring the spare oars?",
  "I have two in the garage. They need a new leather though, it came off at the last regatta and I never had the time to sew it on again.", "👍", "收到！", "Perfect.",
  "The forecast says wind from the west, 4 to 5, rain after six. I would rather start early and be back before dark; what do you think?", "天气预报说六点以后有雨，建议早点出发。",
  "See https://example.org/tides?port=kiel&from=2026-05-01 for the tides.", "😂😂", "Agreed.", "那就两点半吧。", "Works for me\nand for Dave\n\nWe will wait at the gate.",
  "Who has the key?", "It is under the third stone, as always.", "图纸我已经上传了，大家看一下第 3 页。", "Thank you!",
];

const CONVERSATIONS = [
  { conv: "0s1e2f3c4v5n6", kind: "self", size: 12, title: undefined, ago: 9 * DAY },
  { conv: "1rowingclub00", kind: "group", title: "Rowing club Kiel", size: 100_000, members: 14, unread: 3, mentions: 1, ago: 60_000, pinned: true, role: "admin", pins: [99_940, 99_800] },
  { conv: "1pairbob00000", kind: "pair", peer: "bob", size: 420, unread: 2, ago: 4 * 60_000 },
  { conv: "1pairweilin00", kind: "pair", peer: "weilin", size: 260, ago: 18 * 60_000, unread: 0 },
  { conv: "1design000000", kind: "group", title: "设计评审 Design review", size: 2400, members: 6, unread: 128, ago: 40 * 60_000 },
  { conv: "1paircarol000", kind: "pair", peer: "carol", size: 80, ago: 3 * 3_600_000, draft: "I will look at it on" },
  { conv: "1channelnews0", kind: "channel", title: "Apus releases", size: 340, members: 812, role: "reader", ago: 5 * 3_600_000, muted: true, unread: 7 },
  { conv: "1family000000", kind: "group", title: "家里人", size: 900, members: 5, ago: DAY },
  { conv: "1invited00000", kind: "group", title: "Harbour festival 2027", state: "invited", peer: "erin", size: 0, members: 31, ago: 26 * 3_600_000 },
  { conv: "1pairxiaoyu00", kind: "pair", peer: "xiaoyu", size: 35, ago: 2 * DAY },
  { conv: "1pairfrank000", kind: "pair", peer: "frank", size: 22, ago: 4 * DAY, markedUnread: true },
  { conv: "1pairjudy0000", kind: "pair", peer: "judy", size: 3, ago: 6 * DAY },
  { conv: "1archive00000", kind: "group", title: "Summer trip 2025", size: 1200, members: 8, ago: 200 * DAY, archived: true },
  ...Array.from({ length: 40 }, (_, index) => ({ conv: `1team${String(index).padStart(8, "0")}`, kind: "group", title: `Team ${index + 1}`, size: 30 + index, members: 4 + (index % 9), ago: (8 + index) * DAY })),
].map((each) => ({ seed: [...each.conv].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 9973, 7), ...each }));

export function heads() {
  return CONVERSATIONS.map((each) => {
    const last = event(each, each.size);
    return {
      conv: each.conv, kind: each.kind, ...(each.state && { state: each.state }), ...(each.role && { role: each.role }), ...(each.title && { title: each.title }),
      ...(each.peer && { peer: USERS.find((user) => user.name === each.peer) }), members: each.members ?? 2, members_version: 1,
      ...(["group", "channel"].includes(each.kind) && { settings: { ...SETTINGS, ...(each.kind === "channel" && { write: "admins" }) } }),
      seq: each.size, n: each.size, read: each.size - (each.unread ?? 0), unread: each.unread ?? 0, mentions: each.mentions ?? 0, at: now - each.ago,
      ...(last && { last: { seq: last.seq, n: last.n, sender: last.sender, at: last.at, kind: last.kind, state: last.state, text: last.body?.text ?? last.body?.question ?? last.body?.name } }),
      ...(each.pins && { pins: each.pins }),
      own: { ...(each.pinned && { pinned_at: now - DAY }), ...(each.archived && { archived: true }), ...(each.muted && { muted_until: now + DAY * 365 }), ...(each.markedUnread && { marked_unread: true }), ...(each.draft && { draft: { text: each.draft, at: now - 3_600_000 } }) },
    };
  });
}

const find = (conv) => CONVERSATIONS.find((each) => each.conv === conv);
export const members = (conv) => {
  const each = find(conv);
  if (!each || each.kind === "self") return [ME];
  if (each.kind === "pair") return [ME, each.peer];
  return USERS.slice(0, Math.min(each.members, USERS.length - 1)).map((user) => user.name);
};

export const eventAt = (conv, seq) => (find(conv) ? event(find(conv), seq) : null);

/**
 * Returns the event with this number. One in ten events is not plain text: a picture, a poll, a
 * reply or another kind.
 */
function event(each, seq) {
  if (seq < 1 || seq > each.size) return null;
  const random = (salt) => ((seq * 7919 + each.seed * 104_729 + salt * 1_299_709) % 100_003) / 100_003;
  const people = members(each.conv);
  const run = Math.floor(seq / (1 + Math.floor(random(1) * 3)));
  const unread = seq > each.size - (each.unread ?? 0);
  let sender = each.kind === "channel" ? "newsbot" : people[(run * 7 + each.seed) % people.length];
  if (unread && sender === ME) sender = people[1] ?? ME;
  const age = each.size - seq;
  const base = { conv: each.conv, seq, n: seq, sender, id: `m-${each.conv}-${seq}`, at: now - each.ago - Math.floor(age * 171_000 + (random(2) - 0.5) * 100_000), kind: "text" };
  const special = age % 10 === 6 && each.kind !== "self" ? Math.floor(age / 10) % 14 : -1;
  const text = (body) => ({ ...base, body });
  switch (special) {
    case 0: return { ...text({ text: "Then let us decide by a poll." }), ref: seq - 3 > 0 ? seq - 3 : undefined };
    case 1: return { ...base, kind: "poll", body: { question: "When do we start? 什么时候出发？", options: ["14:00", "14:30 两点半", "15:00, after lunch"], multiple: true }, votes: [2, 5, 1], mine: { votes: [1] } };
    case 2: return { ...base, kind: "image", body: { blob: `sample-${seq}`, width: 1280, height: 853, size: 184_320, type: "image/jpeg", thumb: "LEHV6nWB2yk8pyo0adR*.7kCMdnj", text: seq % 3 ? undefined : "The boat, new varnish" } };
    case 3: return { ...text({ text: LINES[5] }), reactions: [{ key: "👍", count: 4 }, { key: "❤️", count: 2 }, { key: "😂", count: 1 }], mine: { reactions: ["👍"] } };
    case 4: return { ...base, state: "recalled" };
    case 5: return { ...base, kind: "file", body: { blob: `sample-${seq}`, name: "Bootsplan – Frühjahr 2026 (final, really).pdf", size: 520_110, type: "application/pdf" } };
    case 6: return { ...text({ text: "See you at seven, not six", entities: [{ type: "bold", offset: 11, length: 5 }] }), state: "edited", edited_at: base.at + 60_000 };
    case 7: return { ...base, kind: "audio", body: { blob: `sample-${seq}`, size: 48_211, type: "audio/ogg", duration: 7300, voice: true, wave: "0a1f3a5c80c0ffd09070503a2a1a3f5f8fafcfbf9f7f5f3f2f1f0f0a1f3a5c80c0ff" } };
    case 8: return { ...text({ text: `Hi @${ME}, code: let x = 1`, entities: [{ type: "mention", offset: 3, length: 6, user: ME }, { type: "code", offset: 17, length: 9 }] }), sender: sender === ME ? people.at(-1) : sender };
    case 9: return { ...base, kind: "org.example.whiteboard", body: { page: 3 } };
    case 10: return { ...base, kind: "location", body: { latitude: 54.3233, longitude: 10.1228, accuracy: 12.5, name: "Kiel, 码头" } };
    case 11: return { ...base, kind: "bundle", body: { title: "Plans", items: [{ sender: "bob", nick: "Bob Marsh", at: base.at - DAY, kind: "text", body: { text: "At six" } }, { sender: "weilin", nick: "陈维林", at: base.at - DAY, kind: "text", body: { text: "好的" } }] } };
    case 12: return { ...base, n: seq, kind: "member.join", body: { users: [people.at(-1)], via: "add" } };
    case 13: return { ...base, kind: "call", body: { media: "video", state: seq % 2 ? "ended" : "missed", duration: 63_000 } };
    default: return text({ text: LINES[Math.floor(random(3) * LINES.length)], ...(seq % 97 === 0 && { forwarded: { sender: "carol", nick: "Carol Okafor", at: base.at - DAY } }) });
  }
}
