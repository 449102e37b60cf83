// Encodes texts as QR codes (ISO/IEC 18004) in byte mode, with error correction level M.

// For each version from 1 to 20: the number of error correction codewords per block, and the number
// of blocks.
const CORRECTION = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26];
const BLOCKS = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16];
const LEVEL_M = 0;

const MASKS = [
  (x, y) => (x + y) % 2, (x, y) => y % 2, (x) => x % 3, (x, y) => (x + y) % 3, (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2,
  (x, y) => ((x * y) % 2) + ((x * y) % 3), (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2, (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2,
];

/**
 * Returns the rows of modules, true for dark, without the quiet zone; null for a text of more than
 * 666 bytes in UTF-8.
 */
export function qrcode(text) {
  const data = new TextEncoder().encode(text);
  const version = CORRECTION.findIndex((_, index) => data.length + (index + 1 < 10 ? 2 : 3) <= capacity(index + 1)) + 1;
  if (version === 0) return null;
  const codewords = interleaved(encoded(data, version), version);
  let best = null;
  for (let mask = 0; mask < MASKS.length; mask += 1) {
    const rows = drawn(version, codewords, mask);
    const score = penalty(rows);
    if (!best || score < best.score) best = { rows, score };
  }
  return best.rows;
}

/** Returns the number of data codewords of a version. */
function capacity(version) {
  return (modules(version) >> 3) - CORRECTION[version - 1] * BLOCKS[version - 1];
}

/** Returns the number of modules for data and error correction. */
function modules(version) {
  const count = Math.floor(version / 7) + 2;
  const patterns = version === 1 ? 0 : (25 * count - 10) * count - 55;
  return (16 * version + 128) * version + 64 - patterns - (version >= 7 ? 36 : 0);
}

function encoded(data, version) {
  const bits = [];
  const add = (value, length) => { for (let bit = length - 1; bit >= 0; bit -= 1) bits.push((value >> bit) & 1); };
  add(4, 4); // byte mode
  add(data.length, version < 10 ? 8 : 16);
  for (const byte of data) add(byte, 8);
  const length = capacity(version) * 8;
  add(0, Math.min(4, length - bits.length));
  while (bits.length % 8) bits.push(0);
  for (let pad = 0xec; bits.length < length; pad ^= 0xec ^ 0x11) add(pad, 8);
  return Array.from({ length: length / 8 }, (_, index) => parseInt(bits.slice(index * 8, index * 8 + 8).join(""), 2));
}

/**
 * Returns the data codewords, then the error correction codewords, each time one codeword of each
 * block in turn.
 */
function interleaved(data, version) {
  const count = BLOCKS[version - 1];
  const correction = CORRECTION[version - 1];
  const generator = divisor(correction);
  const short = Math.floor(data.length / count);
  const blocks = [];
  for (let index = 0, start = 0; index < count; index += 1) {
    const length = short + (index >= count - (data.length % count) ? 1 : 0);
    const part = data.slice(start, (start += length));
    blocks.push({ part, rest: remainder(part, generator) });
  }
  const found = [];
  for (let index = 0; index <= short; index += 1) for (const { part } of blocks) if (index < part.length) found.push(part[index]);
  for (let index = 0; index < correction; index += 1) for (const { rest } of blocks) found.push(rest[index]);
  return found;
}

/** Returns the product in the field of 256 elements with the polynomial 0x11D. */
function product(one, other) {
  let result = 0;
  for (let bit = 7; bit >= 0; bit -= 1) result = ((result << 1) ^ ((result >> 7) * 0x11d)) ^ (((other >> bit) & 1) * one);
  return result;
}

function divisor(degree) {
  const found = [...Array(degree - 1).fill(0), 1];
  for (let step = 0, root = 1; step < degree; step += 1, root = product(root, 2)) {
    for (let index = 0; index < degree; index += 1) found[index] = product(found[index], root) ^ (found[index + 1] ?? 0);
  }
  return found;
}

function remainder(data, generator) {
  const found = Array(generator.length).fill(0);
  for (const byte of data) {
    const factor = byte ^ found.shift();
    found.push(0);
    generator.forEach((value, index) => { found[index] ^= product(value, factor); });
  }
  return found;
}

function drawn(version, codewords, mask) {
  const size = version * 4 + 17;
  const rows = Array.from({ length: size }, () => Array(size).fill(null));
  const set = (x, y, dark) => { if (rows[y]?.[x] !== undefined) rows[y][x] = Boolean(dark); };
  const ring = (cx, cy, radius, isDark) => {
    for (let dy = -radius; dy <= radius; dy += 1) for (let dx = -radius; dx <= radius; dx += 1) set(cx + dx, cy + dy, isDark(Math.max(Math.abs(dx), Math.abs(dy))));
  };
  for (let index = 0; index < size; index += 1) { set(6, index, index % 2 === 0); set(index, 6, index % 2 === 0); }
  for (const [x, y] of [[3, 3], [size - 4, 3], [3, size - 4]]) ring(x, y, 4, (distance) => distance !== 2 && distance !== 4);
  const places = alignment(version, size);
  const last = places.length - 1;
  places.forEach((x, i) => places.forEach((y, j) => {
    if (!((i === 0 && j === 0) || (i === 0 && j === last) || (i === last && j === 0))) ring(x, y, 2, (distance) => distance !== 1);
  }));
  describe(set, size, version, mask);
  fill(rows, size, codewords, MASKS[mask]);
  return rows;
}

/** Returns the coordinates of the centres of the alignment patterns. */
function alignment(version, size) {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const step = Math.ceil((version * 4 + 4) / (count * 2 - 2)) * 2;
  return [6, ...Array.from({ length: count - 1 }, (_, index) => size - 7 - index * step).reverse()];
}

/**
 * Draws the format information and, from version 7 on, the version information, each with its error
 * correction.
 */
function describe(set, size, version, mask) {
  const format = (LEVEL_M << 3) | mask;
  let rest = format;
  for (let step = 0; step < 10; step += 1) rest = (rest << 1) ^ ((rest >> 9) * 0x537);
  const bits = ((format << 10) | rest) ^ 0x5412;
  const bit = (index) => (bits >> index) & 1;
  for (let index = 0; index < 6; index += 1) set(8, index, bit(index));
  set(8, 7, bit(6)); set(8, 8, bit(7)); set(7, 8, bit(8));
  for (let index = 9; index < 15; index += 1) set(14 - index, 8, bit(index));
  for (let index = 0; index < 8; index += 1) set(size - 1 - index, 8, bit(index));
  for (let index = 8; index < 15; index += 1) set(8, size - 15 + index, bit(index));
  set(8, size - 8, true);
  if (version < 7) return;
  rest = version;
  for (let step = 0; step < 12; step += 1) rest = (rest << 1) ^ ((rest >> 11) * 0x1f25);
  const all = (version << 12) | rest;
  for (let index = 0; index < 18; index += 1) {
    const [far, near] = [size - 11 + (index % 3), Math.floor(index / 3)];
    set(far, near, (all >> index) & 1); set(near, far, (all >> index) & 1);
  }
}

/** Fills the free modules from the right, in columns of two, upwards and downwards in turn. */
function fill(rows, size, codewords, mask) {
  let index = 0;
  for (let right = size - 1, upward = true; right > 0; right -= 2, upward = !upward) {
    if (right === 6) right = 5;
    for (let step = 0; step < size; step += 1) {
      const y = upward ? size - 1 - step : step;
      for (const x of [right, right - 1]) {
        if (rows[y][x] !== null) continue;
        const bit = ((codewords[index >> 3] ?? 0) >> (7 - (index & 7))) & 1;
        rows[y][x] = Boolean(bit) !== (mask(x, y) === 0);
        index += 1;
      }
    }
  }
}

/**
 * Returns the penalty of a mask: runs, squares, patterns that resemble the finders, and an unbalanced
 * number of dark modules.
 */
function penalty(rows) {
  const size = rows.length;
  let score = 0;
  let dark = 0;
  for (let line = 0; line < size; line += 1) {
    for (const at of [(index) => rows[line][index], (index) => rows[index][line]]) {
      let text = "";
      for (let index = 0; index < size; index += 1) text += at(index) ? "1" : "0";
      for (const run of text.match(/1{5,}|0{5,}/g) ?? []) score += run.length - 2;
      for (let index = 0; index + 11 <= size; index += 1) if (/^(10111010000|00001011101)$/.test(text.slice(index, index + 11))) score += 40;
    }
    for (let index = 0; index < size; index += 1) {
      if (rows[line][index]) dark += 1;
      if (line > 0 && index > 0 && rows[line][index] === rows[line - 1][index] && rows[line][index] === rows[line][index - 1] && rows[line][index] === rows[line - 1][index - 1]) score += 3;
    }
  }
  return score + 10 * Math.floor(Math.abs((dark * 20) / (size * size) - 10));
}
