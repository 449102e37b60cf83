// The voters of a poll and their options. They are read from the log, in which each change of a
// vote is an event after the poll.

import { h } from "./dom.js";
import { openDialog } from "./dialog.js";
import { PagedPeople, partChips } from "./pagedpeople.js";
import { t } from "../i18n/index.js";

const PAGES = 25; // pages of the log, with 200 events each

/**
 * Resolves to a Map from each user to the options of its newest vote. Reads the log from its end
 * until the number of votes equals the number in the poll.
 */
async function loadVotes(state, conv, row) {
  const latest = new Map();
  const left = [...row.votes];
  let before;
  for (let page = 0; page < PAGES; page += 1) {
    const { events } = await state.verb("history", { conv, before, limit: 200 });
    for (const { seq, kind, ref, sender, body } of events.toReversed()) {
      if (seq <= row.seq) return latest;
      if (kind !== "vote" || ref !== row.seq || latest.has(sender)) continue;
      latest.set(sender, body?.options ?? []);
      for (const option of latest.get(sender)) left[option] -= 1;
    }
    if (events.length === 0 || left.every((count) => !(count > 0))) break;
    before = events[0].seq;
  }
  return latest;
}

export function showVotes(app, conv, row) {
  const options = row.body.options ?? [];
  const total = row.votes.reduce((sum, count) => sum + count, 0);
  const status = h("div", { class: "section-title small muted", role: "status", hidden: true });
  let chosen;
  let votes;
  const people = new PagedPeople(app, t("whoVoted"), async () => {
    votes ??= await loadVotes(app.state, conv, row);
    const all = [...votes].flatMap(([user, cast]) => cast.map((option) => ({ key: `${user} ${option}`, user, option })));
    status.hidden = all.length >= total;
    status.textContent = t("votesShown", { n: all.length, all: total });
    return { rows: all.filter(({ option }) => chosen === undefined || option === chosen).map((each) => ({ ...each, end: h("span", { class: "small muted choice" }, options[each.option] ?? "") })) };
  });
  const parts = options.map((label, key) => ({ key, label, count: row.votes[key] ?? 0 }));
  const chips = partChips(t("poll"), [{ label: t("all"), count: total }, ...parts], (key) => {
    chosen = key;
    people.restart();
  });
  openDialog(t("whoVoted"), [h("p", { class: "dialog-body" }, row.body.question ?? ""), chips.element, status, people.element], { onclose: () => people.close() });
  chips.show();
}
