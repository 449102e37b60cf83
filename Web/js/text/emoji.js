// The emoji of the picker and their names for `:name:`.

/** Each group: its key in the translations, and "emoji name" entries separated by commas. */
const DATA = {
  smileys: "😀 grinning,😃 smiley,😄 smile,😁 grin,😆 laughing,😅 sweat_smile,🤣 rofl,😂 joy,🙂 slight_smile,🙃 upside_down,😉 wink,😊 blush,😇 innocent,🥰 in_love,😍 heart_eyes,🤩 star_struck,😘 kissing_heart,😋 yum,😛 tongue,😜 wink_tongue,🤗 hug,🤭 giggle,🤔 thinking,🤐 zipper,🤨 raised_eyebrow,😐 neutral,😑 expressionless,😶 no_mouth,😏 smirk,😒 unamused,🙄 eye_roll,😬 grimace,😌 relieved,😔 pensive,😪 sleepy,😴 sleeping,😷 mask,🤒 ill,🤧 sneeze,🥵 hot,🥶 cold,😵 dizzy,🤯 mind_blown,🤠 cowboy,🥳 party,😎 sunglasses,🤓 nerd,😕 confused,😟 worried,🙁 frown,😮 open_mouth,😲 astonished,😳 flushed,🥺 pleading,😨 fearful,😰 anxious,😥 sad_relieved,😢 cry,😭 sob,😱 scream,😖 confounded,😞 disappointed,😓 sweat,😩 weary,🥱 yawn,😤 triumph,😡 rage,😠 angry,🤬 swearing,😈 imp,💀 skull,💩 poop,🤡 clown,👻 ghost,👽 alien,🤖 robot",
  people: "👋 wave,🤚 raised_back,✋ hand,👌 ok,🤌 pinched,✌️ victory,🤞 fingers_crossed,🤟 love_you,🤘 metal,🤙 call_me,👈 left,👉 right,👆 point_up,👇 point_down,👍 thumbsup,👎 thumbsdown,✊ fist,👊 punch,👏 clap,🙌 raised_hands,👐 open_hands,🤝 handshake,🙏 pray,✍️ writing,💪 muscle,👀 eyes,🧠 brain,👶 baby,👧 girl,👦 boy,👩 woman,👨 man,👵 grandma,👴 grandpa,🙋 raising_hand,🤷 shrug,🤦 facepalm,💃 dancer,🏃 runner,🚶 walking,👨‍👩‍👧 family,🧑‍💻 technologist",
  nature: "🐶 dog,🐱 cat,🐭 mouse,🐹 hamster,🐰 rabbit,🦊 fox,🐻 bear,🐼 panda,🐯 tiger,🦁 lion,🐮 cow,🐷 pig,🐸 frog,🐵 monkey,🐔 chicken,🐧 penguin,🐦 bird,🦅 eagle,🦉 owl,🐺 wolf,🐴 horse,🦄 unicorn,🐝 bee,🦋 butterfly,🐌 snail,🐢 turtle,🐍 snake,🐙 octopus,🐟 fish,🐬 dolphin,🐳 whale,🌵 cactus,🌲 evergreen,🌴 palm,🌱 seedling,🍀 clover,🌸 blossom,🌹 rose,🌻 sunflower,🌍 earth,🌙 moon,⭐ star,🌟 glowing_star,⚡ zap,🔥 fire,🌈 rainbow,☀️ sun,⛅ cloud,🌧️ rain,❄️ snowflake,☃️ snowman,💧 droplet,🌊 ocean",
  food: "🍏 apple,🍐 pear,🍊 orange,🍋 lemon,🍌 banana,🍉 watermelon,🍇 grapes,🍓 strawberry,🍒 cherries,🍑 peach,🥝 kiwi,🍅 tomato,🥑 avocado,🥦 broccoli,🌽 corn,🥕 carrot,🥔 potato,🍞 bread,🥐 croissant,🧀 cheese,🥚 egg,🍳 cooking,🥓 bacon,🍔 burger,🍟 fries,🍕 pizza,🌭 hotdog,🥪 sandwich,🌮 taco,🥗 salad,🍝 spaghetti,🍜 noodles,🍣 sushi,🥟 dumpling,🍚 rice,🍦 ice_cream,🍰 cake,🎂 birthday,🍫 chocolate,🍿 popcorn,☕ coffee,🍵 tea,🧋 bubble_tea,🍺 beer,🍻 beers,🍷 wine,🥂 cheers,🍹 cocktail",
  activities: "⚽ soccer,🏀 basketball,🏈 football,🎾 tennis,🏐 volleyball,🏓 ping_pong,🏸 badminton,🥊 boxing,⛳ golf,🎣 fishing,🎿 ski,🏂 snowboard,🚴 cyclist,🏊 swimmer,🚣 rowing,🧗 climbing,🏆 trophy,🥇 gold,🎯 dart,🎮 game,🎲 die,🧩 puzzle,🎨 art,🎬 film,🎤 microphone,🎧 headphones,🎸 guitar,🎹 piano,🎻 violin,🎉 tada,🎈 balloon,🎁 gift,🎄 christmas_tree,🧧 red_envelope,🏮 lantern",
  travel: "🚗 car,🚕 taxi,🚌 bus,🚲 bicycle,🛵 scooter,🚂 train,🚇 metro,✈️ plane,🚀 rocket,⛵ sailboat,🚢 ship,⚓ anchor,🚦 traffic_light,🗺️ map,🏠 house,🏢 office,🏥 hospital,🏫 school,🏖️ beach,🏝️ island,⛰️ mountain,🏕️ camping,🌃 night,🌅 sunrise,🗼 tower,🎡 ferris_wheel",
  objects: "⌚ watch,📱 phone,💻 laptop,⌨️ keyboard,🖨️ printer,📷 camera,📺 tv,💡 bulb,🔋 battery,🔌 plug,💰 money,💳 card,🔧 wrench,🔨 hammer,🔒 lock,🔑 key,📦 package,✉️ envelope,📧 email,📅 date,📌 pushpin,📎 paperclip,✂️ scissors,📝 memo,📚 books,📈 chart_up,📉 chart_down,🔍 search,🧪 test_tube,💊 pill,🩺 stethoscope,🛒 cart,⏰ alarm,⏳ hourglass",
  symbols: "❤️ heart,🧡 orange_heart,💛 yellow_heart,💚 green_heart,💙 blue_heart,💜 purple_heart,🖤 black_heart,💔 broken_heart,💕 hearts,💯 hundred,✅ check,☑️ ballot,❌ x,❗ exclamation,❓ question,⚠️ warning,🚫 prohibited,♻️ recycle,➕ plus,➖ minus,💤 zzz,💬 speech,🔔 bell,🔕 no_bell,🎵 note,✨ sparkles,🔴 red,🟢 green,🔵 blue,🏁 finish",
};

/** [{ key, items: [{ face, name }] }] */
export const EMOJI = Object.entries(DATA).map(([key, list]) => ({
  key,
  items: list.split(",").map((entry) => {
    const at = entry.indexOf(" ");
    return { face: entry.slice(0, at), name: entry.slice(at + 1) };
  }),
}));

const ALL = EMOJI.flatMap((group) => group.items);
const BY_NAME = new Map([...ALL.map((item) => [item.name, item.face]), ["+1", "👍"], ["-1", "👎"], ["love", "❤️"], ["lol", "😂"]]);

/** The emoji whose names contain `text`; those that begin with it first. */
export function findEmoji(text, limit = 8) {
  const wanted = text.toLowerCase();
  const starts = ALL.filter((item) => item.name.startsWith(wanted));
  const others = ALL.filter((item) => !item.name.startsWith(wanted) && item.name.includes(wanted));
  return [...starts, ...others].slice(0, limit);
}

/** Replaces each known `:name:`. */
export function replaceShortcodes(text) {
  return text.replace(/:([a-z0-9_+-]{1,24}):/g, (whole, name) => BY_NAME.get(name) ?? whole);
}

const ONLY_EMOJI = /^(?:\p{Extended_Pictographic}|\p{Emoji_Component}|\s)+$/u;

/** Whether a text has one to three emoji and nothing else. */
export function isBigEmoji(text) {
  if (text.length > 40 || !ONLY_EMOJI.test(text) || /^[\d\s#*]+$/.test(text)) return false;
  const parts = typeof Intl.Segmenter === "function" ? [...new Intl.Segmenter().segment(text.replace(/\s/g, ""))].length : [...text].length;
  return parts >= 1 && parts <= 3;
}

export const QUICK_REACTIONS = ["👍", "❤️", "😂", "🎉", "😮", "😢"];
