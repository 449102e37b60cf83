// The common form of names that look alike, as in `NameSkeleton` of the server: the skeleton of UTS
// 39, section 4, with a reduced table. Case, marks, spaces, `.`, `_` and `-` are ignored, and `i`
// and `|` are treated as `l`.

const IGNORED = /[\p{Mn}\p{Me}\p{Cf}\p{Zs}\p{Cc}\p{DI}._-]/u;
const SHARED = { m: "rn", w: "vv", i: "l", 1: "l", "|": "l", 0: "o", æ: "ae", ӕ: "ae", œ: "oe" };
const PAIRS = `
  аa еe іi јj оo рp сc уy хx ѕs һh ԁd ԛq ԝw ѡw ѵv ӏl үy гr ьb ҽe ꙇi АA ВB ЕE КK МM НH ОO РP СC ТT ХX УY ЅS ІI ЈJ ԌG ԚQ ԜW ѴV ӀI ҮY
  αa οo νv ρp υu ιi κk γy σo ϳj ᴦr ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX ͿJ ϜF ϺM
  ոn ռn սu օo հh զq գq ցg յj աw քf ՕO ՏS ԼL ՍU ყy ჿo
  ⲅr ⲟo ⲣp ⲥc ⲎH Ⲓl ⲔK ⲘM ⲚN ⲞO ⲢP ⲤC ⲦT ⲨY ⲬX ⳐL
  ᎪA ᏴB Ꮟb ᏟC ᎠD Ꮷd ᎬE ᏀG ᏳG ᎻH Ꮒh ᎥI ᎫJ ᏦK ᏞL ᎷM ᏢP ᎡR ᏒR ᏚS ᏕS ᎢT ᏙV ᎳW ᏔW ᎩY ᎽY ᏃZ ꮁr
  ꓮA ꓐB ꓚC ꓓD ꓒd ꓰE ꓝF ꓖG ꓧH ꓲl ꓙJ ꓗK ꓡL ꓟM ꓠN ꓳO ꓑP ꓣR ꓢS ꓔT ꓴU ꓦV ꓪW ꓫX ꓬY ꓜZ
  ᗅA ᗷB ᑲb ᖯb ᗞD ᗪD ᑯd ᖴF ᕼH ᒍJ ᒪL ᗰM ᑭP ᖇR ᑌU ᐯV ᕁx ᕽx ⴸV ⴹE ⵏl ⵔO ⵕQ ⵝX ᚷX ᛁl ᛕK ᛖM
  ıi ɑa ɡg ɩi ɪi ʏy ᴏo ᴄc ᴠv ᴡw ᴢz ꜱs ɢg ʜh ɴn ʀr ʟl ᴀa ᴇe ᴋk ᴘp ᴛt ᴜu ɛe ʋu ƅb ɯw ƍg ǀl ɣy ỿy
  ᶃg ᶌy ᴑo ꞟu ꬲe ꬵf ꬽo ꭇr ꭈr ꭎu ꭒu ꭚy ꞙf ẝf ꞘF ꞲJ ꞳX ꞴB
  ١l ۱l ٥o ۵o ߀o ०o ০o ੦o ૦o ୦o ௦o ౦o ೦o ൦o ๐o ໐o ၀o 〇o ×x ℮e ∣l ∨v ∪U`;
const TABLE = new Map(PAIRS.trim().split(/\s+/).map((pair) => [...pair]));

/** Returns the skeleton of an account name or a shown name. */
function skeleton(name) {
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
 * Returns the skeletons of a name and of its lower-case form. Two names that differ only in case
 * have a common skeleton, although a capital can resemble another letter than its lower-case form.
 */
export const skeletons = (name) => new Set([skeleton(name), skeleton(name.toLowerCase())]);

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
