// Determines the quality of a connection from two reports of `getStats`.

/** Returns the values of a report that describe the quality. */
export function summarize(report) {
  const found = { at: 0, received: 0, lost: 0, bytes: 0, frames: 0, width: 0, height: 0, jitter: 0, roundTrip: null, isRelayed: false };
  const pairs = new Map();
  const candidates = new Map();
  let selected = null;
  for (const each of report.values()) {
    found.at = Math.max(found.at, each.timestamp ?? 0);
    if (each.type === "inbound-rtp") {
      found.received += each.packetsReceived ?? 0;
      found.lost += Math.max(0, each.packetsLost ?? 0);
      found.bytes += each.bytesReceived ?? 0;
      found.jitter = Math.max(found.jitter, each.jitter ?? 0);
      if (each.kind === "video") {
        found.frames += each.framesDecoded ?? 0;
        found.width = each.frameWidth ?? found.width;
        found.height = each.frameHeight ?? found.height;
      }
    } else if (each.type === "candidate-pair") pairs.set(each.id, each);
    else if (each.type === "local-candidate") candidates.set(each.id, each);
    else if (each.type === "transport") selected = each.selectedCandidatePairId ?? selected;
  }
  const pair = pairs.get(selected) ?? [...pairs.values()].find((each) => each.nominated && each.state === "succeeded");
  if (pair) {
    found.roundTrip = pair.currentRoundTripTime ?? null;
    found.isRelayed = candidates.get(pair.localCandidateId)?.candidateType === "relay";
  }
  return found;
}

/**
 * Returns the level of the quality: 3 is good, 2 fair, 1 poor; null if `before` is not an earlier
 * report.
 */
export function levelOf(before, after) {
  if (!before || after.at <= before.at) return null;
  const received = after.received - before.received;
  const lost = after.lost - before.lost;
  if (received <= 0) return 1;
  const loss = Math.max(0, lost) / (received + Math.max(0, lost));
  const { roundTrip, jitter } = after;
  if (loss > 0.08 || roundTrip > 0.6 || jitter > 0.1) return 1;
  if (loss > 0.02 || roundTrip > 0.3 || jitter > 0.04) return 2;
  return 3;
}
