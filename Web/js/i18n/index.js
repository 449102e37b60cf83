// Translations: `t("key", { name })`. A text may be an object of plural forms; `n` selects one of
// them.

const LOADERS = { en: async () => (await import("./en.js")).en, zh: async () => (await import("./zh.js")).zh };
export const LANGUAGE_NAMES = { en: "English", zh: "中文" };

let language = "en";
let texts = {};
let plurals = new Intl.PluralRules("en");
let tag = "en";

/**
 * Loads and sets the language. "system" selects the first supported language of the browser. If its
 * texts cannot be loaded, another language is loaded.
 */
export async function setLanguage(choice) {
  const wanted = navigator.languages ?? [navigator.language];
  const known = LOADERS[choice] ? choice : wanted.map((tag) => tag.split("-")[0].toLowerCase()).find((tag) => LOADERS[tag]) ?? "en";
  for (const each of [known, ...Object.keys(LOADERS)]) {
    try {
      [texts, language] = [await LOADERS[each](), each];
      break;
    } catch (error) {
      console.warn("language:", error);
    }
  }
  tag = wanted.find((each) => each.toLowerCase().split("-")[0] === language) ?? (language === "zh" ? "zh-CN" : "en");
  plurals = new Intl.PluralRules(tag);
  document.documentElement.lang = language === "zh" ? "zh-CN" : tag;
}

/**
 * Returns the tag for `Intl`: the tag of the browser, with its region, if its language is the
 * chosen one.
 */
export const locale = () => tag;

export function currentLanguage() {
  return language;
}

/** Returns the text of `key`. `{name}` in the text is replaced by the parameter `name`. */
export function t(key, parameters = {}) {
  let text = texts[key];
  if (text === undefined) return key;
  if (typeof text === "object") text = text[plurals.select(Number(parameters.n ?? 0))] ?? text.other;
  return text.replace(/( ?)\{(\w+)\}( ?)/g, (whole, before, name, after) => {
    const value = parameters[name];
    if (value === undefined) return whole;
    const shown = typeof value === "number" ? new Intl.NumberFormat(tag).format(value) : String(value);
    return spacing(before, shown[0]) + shown + spacing(after, shown.at(-1));
  });
}

/** Returns `space`, or an empty text beside a Chinese character in Chinese. */
function spacing(space, neighbour) {
  return language === "zh" && /\p{Script=Han}/u.test(neighbour ?? "") ? "" : space;
}
