// The common form of names that look alike, as in `NameSkeleton` of the server: the skeleton of UTS
// 39, section 4, with a reduced table. Case, marks, spaces, `.`, `_` and `-` are ignored, and `i`
// and `|` are treated as `l`.

const IGNORED = /[\p{Mn}\p{Me}\p{Cf}\p{Zs}\p{Cc}\p{DI}._-]/u;
const SHARED = { m: "rn", w: "vv", i: "l", 1: "l", "|": "l", 0: "o" };
const PAIRS = `
  аa еe іi јj оo рp сc уy хx ѕs һh ԁd ԛq ԝw ѵv ӏl үy гr ьb АA ВB ЕE КK МM НH ОO РP СC ТT ХX УY ЅS ІI ЈJ ԚQ ԜW ѴV ӀI ҮY
  αa οo νv ρp υu ιi κk γy σo ϳj ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX ͿJ
  ոn սu օo հh զq ցg յj ՕO ՏS ԼL ՍU
  ᎪA ᏴB ᏟC ᎠD ᎬE ᏀG ᎻH ᎥI ᎫJ ᏦK ᏞL ᎷM ᏢP ᏒR ᏚS ᎢT ᏙV ᎳW ᏃZ
  ıi ɑa ɡg ɩi ɪi ʏy ᴏo ᴄc ᴠv ᴡw ᴢz ꜱs ɢg ʜh ɴn ʀr ʟl ᴀa ᴇe ᴋk ᴘp ᴛt ᴜu ɛe ʋv ƅb ɯw`;
const TABLE = new Map(PAIRS.trim().split(/\s+/).map((pair) => [...pair]));

/**
 * Returns the skeleton of an account name or a shown name. Two names with the same skeleton look
 * alike.
 */
export function skeleton(name) {
  let found = "";
  for (const scalar of name.normalize("NFKD")) {
    if (IGNORED.test(scalar)) continue;
    for (const lower of letter(scalar).toLowerCase()) {
      const alike = letter(lower);
      found += SHARED[alike] ?? alike;
    }
  }
  return found;
}

/**
 * Returns the letter that a scalar resembles, or the scalar. The lower-case letters of Cherokee are
 * small forms of the capitals in the table.
 */
function letter(scalar) {
  const found = TABLE.get(scalar);
  const code = scalar.codePointAt(0);
  if (found || code < 0xab70 || code > 0xabbf) return found ?? scalar;
  return TABLE.get(String.fromCodePoint(code - 0xab70 + 0x13a0)) ?? scalar;
}
