// The shape of a row of a log in relation to its neighbours: the day, the line of new messages, and
// the group of messages of one sender.

import { isNote } from "./model.js";
import { dayOf } from "../i18n/format.js";

const TOGETHER = 5 * 60_000; // ms; messages of one sender within this time form a group

const timeOf = (row) => row.at ?? Date.now();

/**
 * Returns {day, unread, first, last}: whether the row begins a day or the new messages, and whether
 * it is the first or last of its group. `firstUnread` is the `seq` of the first new message, or
 * null.
 */
export function rowShape(rows, index, firstUnread) {
  const [before, row, after] = [rows[index - 1], rows[index], rows[index + 1]];
  const day = !before || dayOf(timeOf(before)) !== dayOf(timeOf(row));
  const unread = firstUnread !== null && row.seq >= firstUnread && !(before?.seq >= firstUnread);
  return {
    day, unread,
    first: day || unread || !joins(before, row),
    last: !after || !joins(row, after) || dayOf(timeOf(after)) !== dayOf(timeOf(row)),
  };
}

function joins(one, other) {
  return Boolean(one) && one.sender === other.sender && !isNote(one) && !isNote(other) && timeOf(other) - timeOf(one) < TOGETHER;
}
